"""Files and folders that are there whole or not at all: each is written beside its name and then moved there.

A kill at any moment leaves what was there before; what it leaves of the draft, the next write into that folder removes
(`leavings`). A folder gets a manifest of its files, and so do the files of a folder that is written one by one.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pathformer.errors import InputError
from pathformer.files.leavings import draft_name, remove_leavings
from pathformer.files.manifest import NAME, Manifest, State, read_manifest, seal

__all__ = ["check_target", "new_file", "new_folder", "reason_of", "write_json"]


@contextmanager
def new_file(path: Path, kind: str | None = None) -> Iterator[Path]:
    """Yields where to write a draft, which is flushed to the disk and takes the place of `path` when the block ends.

    kind: of a folder that is written file by file (`manifest.KINDS`): its manifest then says what was written. Of two
    processes that write one file at once, the one that ends last wins.
    """
    folder = path.parent / draft_name(path.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leavings(path.parent)
        folder.mkdir()
        draft = folder / path.name
        draft.touch()
        mode = draft.stat().st_mode  # that of any file here; some writers leave theirs to the user alone
        yield draft
        draft.chmod(mode)
        with draft.open("r+b") as file:  # Windows flushes no file that is open for reading alone
            os.fsync(file.fileno())
        if kind is None:
            draft.replace(path)
        else:
            _replace_and_note(draft, path, kind)
    except BrokenPipeError:
        raise  # of what is told meanwhile
    except OSError as error:
        raise InputError(f"{path} cannot be written ({reason_of(error)})") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_json(path: Path, facts: Mapping[str, Any], kind: str | None = None) -> None:
    """Writes facts as JSON to a file that is there whole at any moment; kind: as for `new_file`."""
    with new_file(path, kind) as draft:
        draft.write_text(json.dumps(facts), encoding="utf-8")


def _replace_and_note(draft: Path, path: Path, kind: str) -> None:
    """Moves a draft to its name, whose manifest knows the old file and the new one until that is done."""
    folder, new = path.parent, State.of(draft)
    before = read_manifest(folder, "start again with --fresh") if (folder / NAME).is_file() else Manifest(kind, {})
    before = before.only(frozenset(name for name in before.files if (folder / name).is_file()))
    manifest = before.with_file(path.name, new, *before.files.get(path.name, ()))
    for step in (manifest, manifest.with_file(path.name, new)):
        with new_file(folder / NAME) as noted:
            step.write(noted)
        if step is manifest:
            draft.replace(path)


@contextmanager
def new_folder(target: Path, marker: str, *, kind: str | None = None, force: bool = False) -> Iterator[Path]:
    """Yields a temporary folder that takes the place of `target` if the block ends well, and vanishes if it does not.

    kind: of what is saved (`manifest.KINDS`), for its manifest; without it the folder gets none.

    An existing target is refused; with `force` it is replaced, if it is empty or holds the file `marker`: anything else
    was not made by us, and is never deleted. Of a link the folder that it leads to is meant: the link stays.
    """
    check_target(target, marker, force=force)
    real = Path(os.path.realpath(target)) if target.is_symlink() else target  # `resolve` fails on a ring of links
    temporary = real.parent / draft_name(real.name)
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        remove_leavings(real.parent)
        temporary.mkdir()
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from error
    try:
        yield temporary
        if kind is not None:
            seal(temporary, kind)
        check_target(target, marker, force=force)
        _put(temporary, real)
    except BrokenPipeError:
        raise  # of what is told meanwhile
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({reason_of(error)})") from error
    finally:
        _remove(temporary)


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
    if not os.access(target, os.W_OK):
        raise InputError(f"{target} is read-only, so it is not replaced: choose another folder, or `chmod u+w` it")


def reason_of(error: OSError) -> str:
    """Says why the system refused; a writer that was cut short tells numbers alone, and only a full disk does that."""
    if error.strerror is not None:
        return error.strerror
    return "the disk is full" if "requested and" in str(error) and "written" in str(error) else str(error)


def _remove(folder: Path) -> None:
    """Removes a folder that is not needed any more; what is write-protected within it is ours, too."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for path in (folder, *folder.rglob("*")):
            with suppress(OSError):
                path.chmod(path.stat().st_mode | stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists() and sys.stderr is not None:
        print(f"{folder} is not needed any more and cannot be removed: remove it", file=sys.stderr)


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
