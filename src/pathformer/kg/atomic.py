"""Folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pathformer.errors import InputError

__all__ = ["new_folder"]


@contextmanager
def new_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A temporary folder beside `path` that takes its name when the block ends well, and is gone when it does not.

    An existing folder is refused before any work is done; with `force` the new one takes its place in one rename.
    """
    if path.exists() and not force:
        raise InputError(f"{path} exists already; choose another place or replace it with --force")
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, not a folder; choose another place")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise InputError(f"cannot write to {path.parent}: {error.strerror}") from error
    try:
        scratch.chmod(0o755)
        yield scratch
        _replace(scratch, path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _replace(scratch: Path, path: Path) -> None:
    if path.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
        os.replace(path, old)  # onto an empty folder: the old one keeps a name until the new one has its own
        os.replace(scratch, path)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(scratch, path)
