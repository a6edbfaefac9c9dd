"""A temporary folder that goes with its process: after a kill, the next one removes it."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pathformer.errors import InputError
from pathformer.files.leavings import draft_name, remove_leavings

__all__ = ["scratch_error", "scratch_folder"]


@contextmanager
def scratch_folder(beside: Path | None = None) -> Iterator[Path]:
    """Yields a new folder below `$TMPDIR`, or beside one that is about to be written, and removes it at the end."""
    try:
        base = Path(tempfile.gettempdir()) if beside is None else beside.absolute().parent
        if beside is not None:
            base.mkdir(parents=True, exist_ok=True)
        remove_leavings(base)
        folder = base / draft_name("pathformer")
        folder.mkdir(mode=0o700)
    except OSError as error:
        if beside is not None:
            raise InputError(f"{beside}: cannot be written ({error.strerror})") from error
        raise scratch_error(error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def scratch_error(error: OSError) -> InputError:
    """Returns the sentence for a temporary folder that cannot be written."""
    try:
        place = f"the temporary folder {tempfile.gettempdir()}"
    except OSError:
        place = "no temporary folder"
    what = "is full" if error.errno == errno.ENOSPC else f"cannot be written ({error.strerror or error})"
    return InputError(f"{place} {what}: set TMPDIR to a folder with more room")
