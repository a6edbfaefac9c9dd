"""A lock that lets one process at a time write to a folder.

The lock is the system's (`flock`): it is gone as soon as the process that holds it is, however that ended, and a file
that a killed one has left holds nobody up. On a network folder it holds between machines, where the file system has
such locks; where it has none, as on Windows, everybody can have it.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pathformer.errors import InputError

__all__ = ["FILE", "hold_folder", "open_lock"]

FILE = ".lock"  # in the folder, for as long as it is held; who holds it stands in it


class _Mine(threading.local):
    """The folders that a thread holds."""

    def __init__(self) -> None:
        self.folders: set[str] = set()


_MINE = _Mine()


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Makes a folder if need be and holds it as its only writer; who holds it already may ask again.

    A folder that was made here and holds nothing at the end goes.
    """
    real = os.path.realpath(folder)
    if real in _MINE.folders:
        yield
        return
    made, lock = not folder.exists(), _open(folder)
    _MINE.folders.add(real)
    try:
        yield
    finally:
        _MINE.folders.remove(real)
        with suppress(OSError):
            (folder / FILE).unlink()  # while it is held: nobody else's is taken away
        os.close(lock)
        if sys.platform == "win32":  # no open file can be taken away there, and none is held
            with suppress(OSError):
                (folder / FILE).unlink()
        if made:
            with suppress(OSError):  # it holds something
                folder.rmdir()


def open_lock(file: Path) -> int | None:
    """Takes the lock at `file`, held until it is closed; None if another process holds it."""
    while True:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            if file.parent.is_dir():
                raise
            continue  # another process has taken the folder away again
        if not _take(lock):
            os.close(lock)
            return None
        if _is_at(lock, file):
            return lock
        os.close(lock)  # its holder has ended meanwhile, and taken the file away


def _open(folder: Path) -> int:
    try:
        lock = open_lock(folder / FILE)
        if lock is None:
            raise InputError(f"{_holder(folder)} is writing to {folder}: wait for it, or choose another folder")
    except OSError as error:
        raise InputError(f"{folder} cannot be written ({error.strerror})") from error
    with suppress(OSError):  # it is held, whether a full disk lets us say so or not
        os.truncate(lock, 0)
        os.write(lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
    return lock


def _holder(folder: Path) -> str:
    """Returns who holds the lock, as far as the file says yet."""
    with suppress(OSError):
        return (folder / FILE).read_text(encoding="utf-8", errors="replace") or "another process"
    return "another process"


def _take(lock: int) -> bool:
    """Takes the lock and returns whether that worked."""
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # the second is what some network folders say
            return False
        except OSError:
            return True  # a file system without locks
    return True


def _is_at(opened: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), file.stat())
    except FileNotFoundError:
        return False
