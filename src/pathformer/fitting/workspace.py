"""The folder of a fit in progress: `.films.fit` beside the future engine `films`.

It holds the questions and the saved training. After an interruption the same command continues in it; it is removed
when the engine is written. A lock lets one process work in it at a time; the system releases the lock when that process
ends, however it ends.
"""

from __future__ import annotations

import json
import os
import shutil
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
from pathformer.files.saved import check_file
from pathformer.files.scratch import scratch_folder
from pathformer.fitting.settings import FitSettings
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.training.checkpoint import as_stored

__all__ = [
    "open_workspace",
    "reserve",
]

_HEADER, _LOCK = "fit.json", "lock"
_NAMED = 4  # settings that a message names


@contextmanager
def open_workspace(
    target: Path | None,
    kg: KnowledgeGraph,
    settings: FitSettings,
    *,
    fresh: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Path]:
    """Opens the folder to work in for `target`, locked; without a target a temporary folder.

    check: called when nobody else can be writing `target`; if it refuses, no new folder is left behind.
    """
    if target is None:
        with scratch_folder() as temporary:
            yield temporary
        return
    folder = unfinished(target)
    facts = as_stored({"fingerprint": kg.fingerprint(), "settings": asdict(settings)})
    with _locked(folder, target):
        try:
            check()
        except InputError:
            _leave(folder)
            raise
        shutil.rmtree(_aside(folder), ignore_errors=True)  # left by a fit that was stopped while it cleared up
        if fresh:
            _clear(folder)
        if (folder / _HEADER).is_file():
            _check_same(folder, facts)
        else:
            write_json(folder / _HEADER, facts, "fit")
        yield folder
        _remove(folder)


@contextmanager
def reserve(target: Path, check: Callable[[], None]) -> Iterator[None]:
    """Holds the lock of `target` while it is written, without a folder to work in; check: as in `open_workspace`."""
    folder = unfinished(target)
    with _locked(folder, target):
        try:
            check()
            yield
        finally:
            _leave(folder)


@contextmanager
def _locked(folder: Path, target: Path) -> Iterator[None]:
    """Makes the folder if it is missing, and holds its lock."""
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
            f"{folder} exists and is not from `pathformer fit`. "
            "Progress is saved there: move it, or choose another --out"
        )
    lock = open_lock(folder / _LOCK)
    if lock is None:
        raise InputError(f"another fit is writing {target}: wait for it, or choose another --out")
    return lock


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and (
        any((folder / name).is_file() for name in (_HEADER, _LOCK)) or not any(folder.iterdir())
    )


def _clear(folder: Path) -> None:
    """Removes everything but the lock."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _LOCK:
            path.unlink()


def _leave(folder: Path) -> None:
    """Removes a folder that was made for the lock only; the folder of an unfinished fit stays."""
    if not (folder / _HEADER).is_file():
        _remove(folder)


def _remove(folder: Path) -> None:
    """Removes the folder in one step, so that a fit that starts now finds a whole folder or none.

    Windows cannot move a folder with an open file: there the folder stays, with the lock only.
    """
    aside = _aside(folder)
    shutil.rmtree(aside, ignore_errors=True)
    try:
        folder.rename(aside)
    except PermissionError:
        _clear(folder)
    shutil.rmtree(aside, ignore_errors=True)


def _aside(folder: Path) -> Path:
    """Returns the path that a finished fit's folder is moved to before it is removed."""
    return folder.with_suffix(".done")


def _check_same(folder: Path, now: Mapping[str, Any]) -> None:
    check_file(folder / _HEADER, "fit")
    try:
        before = json.loads((folder / _HEADER).read_text("utf-8"))
        other_graph, earlier = before["fingerprint"] != now["fingerprint"], dict(before["settings"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(f"the unfinished fit in {folder} is damaged: start again with --fresh") from None
    if before == now:
        return
    different = list_changes(earlier, now["settings"])
    more = f" and {len(different) - _NAMED} more" if len(different) > _NAMED else ""
    what = "of another graph" if other_graph else f"with other settings ({'; '.join(different[:_NAMED])}{more})"
    raise InputError(
        f"{folder} holds an unfinished fit {what}: finish it with the same triples and options, "
        "or start again with --fresh"
    )
