"""The folder of a fit in progress: `.films.fit` beside the engine `films` that is to be.

Training saves itself there, and questions are kept. It is left where the work is interrupted, and the same command goes
on in it; it goes when the engine is written. One process works in it at a time: a lock that the system takes back
whenever that process ends, however it ends.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pathformer.config import list_changes
from pathformer.engine.storage import unfinished
from pathformer.errors import InputError
from pathformer.files.atomic import write_json
from pathformer.files.lock import open_lock
from pathformer.fitting.settings import FitSettings
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.training.checkpoint import as_stored

__all__ = [
    "reserved",
    "workshop",
]

_HEADER, _LOCK = "fit.json", "lock"
_TOLD = 4  # settings that a message names


@contextmanager
def workshop(
    target: Path | None,
    kg: KnowledgeGraph,
    settings: FitSettings,
    *,
    fresh: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Path]:
    """The folder to work in for `target`, locked; without a target a temporary one.

    check: called when nobody else can be writing `target` any more; what it refuses leaves no new folder.
    """
    if target is None:
        with tempfile.TemporaryDirectory(prefix="pathformer-fit-") as temporary:
            yield Path(temporary)
        return
    folder = unfinished(target)
    facts = as_stored({"fingerprint": kg.fingerprint(), "settings": asdict(settings)})
    with _locked(folder, target):
        try:
            check()
        except InputError:
            _leave(folder)
            raise
        shutil.rmtree(_aside(folder), ignore_errors=True)  # of a fit that was stopped while it cleared up
        if fresh:
            _clear(folder)
        if (folder / _HEADER).is_file():
            _check_same(folder, facts)
        else:
            write_json(folder / _HEADER, facts)
        yield folder
        _remove(folder)


@contextmanager
def reserved(target: Path, check: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of `target` while it is written at once, without a folder to work in; check: as of `workshop`."""
    folder = unfinished(target)
    with _locked(folder, target):
        try:
            check()
            yield
        finally:
            _leave(folder)


@contextmanager
def _locked(folder: Path, target: Path) -> Iterator[None]:
    """Make the folder, where it is not there, and hold its lock."""
    try:
        lock = _open_lock(folder, target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {folder}: {error.strerror}") from error
    try:
        yield
    finally:
        os.close(lock)


def _open_lock(folder: Path, target: Path) -> int:
    if folder.exists() and not _is_ours(folder):
        raise InputError(
            f"{folder} is in the way: work in progress would go there, and it was not made by this command"
        )
    lock = open_lock(folder / _LOCK)
    if lock is None:
        raise InputError(f"another fit is writing {target}: wait for it, or choose another place")
    return lock


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and (
        any((folder / name).is_file() for name in (_HEADER, _LOCK)) or not any(folder.iterdir())
    )


def _clear(folder: Path) -> None:
    """Forget what was done, the lock apart."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _LOCK:
            path.unlink()


def _leave(folder: Path) -> None:
    """As it was found: that of an unfinished fit stays, one that was made for the lock alone goes."""
    if not (folder / _HEADER).is_file():
        _remove(folder)


def _remove(folder: Path) -> None:
    """In one step, so that a fit that begins meanwhile finds the folder or none.

    Windows moves no folder in which a file is open: there it stays, and the lock in it alone.
    """
    aside = _aside(folder)
    shutil.rmtree(aside, ignore_errors=True)
    try:
        folder.rename(aside)
    except PermissionError:
        _clear(folder)
    shutil.rmtree(aside, ignore_errors=True)


def _aside(folder: Path) -> Path:
    """Where a finished fit's folder is put to be removed."""
    return folder.with_suffix(".done")


def _check_same(folder: Path, now: Mapping[str, Any]) -> None:
    try:
        before = json.loads((folder / _HEADER).read_text("utf-8"))
        other_graph, earlier = before["fingerprint"] != now["fingerprint"], dict(before["settings"])
    except (ValueError, TypeError, KeyError):
        raise InputError(f"the unfinished fit in {folder} is damaged; start anew with --fresh") from None
    if before == now:
        return
    different = list_changes(earlier, now["settings"])
    more = f" and {len(different) - _TOLD} more" if len(different) > _TOLD else ""
    what = "of another graph" if other_graph else f"with other settings ({'; '.join(different[:_TOLD])}{more})"
    raise InputError(
        f"{folder} holds an unfinished fit {what}: finish it with the triples and options it was begun with, "
        "or forget it with --fresh"
    )
