"""A saved index on disk: a header in JSON, and arrays beside it that are mapped when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError
from pathformer.files.fields import wrong_field
from pathformer.files.saved import Saved, holds

__all__ = ["HEADER", "Arrays", "Folder", "check_header", "read_header", "write_folder"]

Arrays = Mapping[str, npt.NDArray[Any]]

HEADER = "index.json"
_FORMAT, _VERSION = "pathformer index", 3
_FIELDS = {
    "backend": "text",
    "rows": "a count",
    "width": "a count",
    "measure": "text or null",
    "scale": "a number",
    "offset": "a number",
    "config": "an object",
    "given": "an object",
    "tuned_at": "a count",
    "about": "an object",
}


def write_folder(folder: Path, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Writes a header and arrays into an existing folder."""
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    whole = {"format": _FORMAT, "version": _VERSION, **header}
    (folder / HEADER).write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def check_header(folder: Path) -> None:
    """Refuses a folder that holds no saved index, in words for that."""
    if not holds(folder, "index"):
        read_header(folder)


def read_header(folder: Path) -> dict[str, Any]:
    """Returns the header of a saved index; refuses one that this version cannot read."""
    file = folder / HEADER
    if not file.is_file():
        raise InputError(f"{folder} {'holds no index' if folder.is_dir() else 'does not exist'}: no {HEADER} in it")
    try:
        header: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{file} is not JSON ({error}): build the index again") from error
    if not isinstance(header, dict):
        raise InputError(f"{file} holds no JSON object: build the index again")
    if header.get("format") != _FORMAT or header.get("version") != _VERSION:
        raise InputError(
            f"{file} is not the header of an index that this version reads: format {header.get('format')!r} "
            f"{header.get('version')!r}, expected {_FORMAT!r} {_VERSION}: build the index again"
        )
    if problem := wrong_field(header, _FIELDS):
        raise InputError(f"{file} is damaged ({problem}): build the index again")
    return header


class Folder(Arrays):
    """The arrays of a saved index by name, mapped when they are asked for."""

    def __init__(self, saved: Saved) -> None:
        self._saved = saved

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._saved.array(f"{name}.npy")

    def checked(self, name: str) -> npt.NDArray[Any]:
        """Returns an array whose damage could end the process, read and checked whatever its size."""
        self._saved.check(f"{name}.npy")
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix(".npy") for name in self._saved.manifest.files if name.endswith(".npy"))

    def __len__(self) -> int:
        return sum(1 for _ in self)
