"""Files and folders that are there whole or not at all: each is written beside its name and then moved there.

A kill at any moment leaves what was there before; what it leaves of the draft, the next write of that name sweeps.
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pathformer.errors import InputError

__all__ = ["check_target", "new_file", "new_folder", "write_json"]


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yields where to write a draft, which is flushed to the disk and takes the place of `path` when the block ends.

    Two processes that write one file at once never mix theirs: the one whose draft is swept fails with an OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".{escape(path.name)}.*part"):
        shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(".part", f".{path.name}.", path.parent, ignore_cleanup_errors=True) as folder:
        draft = Path(folder, path.name)
        draft.touch()
        mode = draft.stat().st_mode  # that of any file here; some writers leave theirs to the user alone
        yield draft
        draft.chmod(mode)
        with draft.open("r+b") as file:  # Windows flushes no file that is open for reading alone
            os.fsync(file.fileno())
        draft.replace(path)


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Writes facts as JSON to a file that is there whole at any moment."""
    with new_file(path) as draft:
        draft.write_text(json.dumps(facts), encoding="utf-8")


@contextmanager
def new_folder(target: Path, marker: str, *, force: bool = False) -> Iterator[Path]:
    """Yields a temporary folder that takes the place of `target` if the block ends well, and vanishes if it does not.

    An existing target is refused; with `force` it is replaced, if it is empty or holds the file `marker`: anything else
    was not made by us, and is never deleted. Of a link the folder that it leads to is meant: the link stays.
    """
    check_target(target, marker, force=force)
    real = Path(os.path.realpath(target)) if target.is_symlink() else target  # `resolve` fails on a ring of links
    temporary = real.parent / f".{real.name}.{secrets.token_hex(4)}.part"
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from error
    try:
        yield temporary
        check_target(target, marker, force=force)
        _put(temporary, real)
    except BrokenPipeError:
        raise  # of what is told meanwhile
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_target(target: Path, marker: str, *, force: bool = False) -> None:
    """Refuses a folder that must not be written to.

    A folder is written beside its place and then put there, which that of one's own shell or program would not outlive.
    """
    if target.name in ("", ".."):
        raise InputError(
            f"{target} is this folder or one above it, and would be replaced as a whole: name another folder"
        )
    if not target.exists():
        return
    ours = target.is_dir() and ((target / marker).is_file() or not any(target.iterdir()))
    if not ours:
        raise InputError(f"{target} exists and was not made by this command: choose another folder")
    if not force and any(target.iterdir()):
        raise InputError(f"{target} exists already: choose another folder, or replace it with --force (force=True)")


def _put(source: Path, target: Path) -> None:
    """Moves `source` to `target`; the old target ends up at `source`."""
    if not target.exists():
        source.rename(target)
    elif not _exchange(source, target):
        aside = source.with_suffix(".old")
        target.rename(aside)
        try:
            source.rename(target)
        except OSError:
            aside.rename(target)
            raise
        aside.rename(source)


def _exchange(first: Path, second: Path) -> bool:
    """Swaps two folders in one step if the system can (Linux), so that both are there at every moment."""
    if not sys.platform.startswith("linux"):
        return False
    with suppress(OSError, AttributeError):
        swap = ctypes.CDLL(None).renameat2
        here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
        return bool(swap(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0)
    return False
