"""The finished parts of a long list, kept beside its file until that is whole: a command that was stopped goes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError
from pathformer.files.arrays import read_npz
from pathformer.files.atomic import new_file, write_json
from pathformer.files.lock import hold_folder

__all__ = ["Arrays", "Parts", "open_parts"]

Arrays = Mapping[str, npt.NDArray[Any]]

_HEADER = "predict.json"  # whose parts these are


class Parts:
    """Parts by name: each is made once, and read again by the next command."""

    def __init__(self, folder: Path | None = None) -> None:
        """folder: where parts are kept; without one each is made when it is asked for."""
        self.folder = folder

    def keep(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """Returns a part: as it was kept, or newly made."""
        if self.folder is None:
            return make()
        file = self.folder / f"{name}.npz"
        with suppress(OSError, ValueError), file.open("rb") as opened:  # a damaged part is made again
            return read_npz(opened)
        arrays = dict(make())
        with new_file(file) as draft, draft.open("wb") as opened:
            np.savez(opened, allow_pickle=False, **arrays)
        return arrays


@contextmanager
def open_parts(out: Path, work: str) -> Iterator[Parts]:
    """Yields the parts of a file to write; they are removed when the block ends well.

    work: what is done, with which engine; parts of other work are removed first.
    """
    folder = out.with_name(f"{out.name}.parts")
    if folder.exists() and not _is_ours(folder):
        raise InputError(f"{folder} is in the way and was not made by this command: move it, or choose another --out")
    with hold_folder(folder):
        if _work(folder) != work:
            for file in folder.glob("*.npz"):
                file.unlink()
            write_json(folder / _HEADER, {"work": work})
        yield Parts(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and ((folder / _HEADER).is_file() or not any(folder.iterdir()))


def _work(folder: Path) -> object:
    try:
        told = json.loads((folder / _HEADER).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return told.get("work") if isinstance(told, dict) else None
