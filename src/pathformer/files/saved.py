"""A saved folder as it is opened: checked against its manifest, and of one save from beginning to end.

A folder of up to 256 MB is read and checked as a whole. In a larger one all small files are, and of each large file its
size and its two ends, where the header of every format lies; `pathformer check` reads the rest.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt

from pathformer.errors import DamagedError, InputError
from pathformer.files.arrays import map_array
from pathformer.files.checksum import algorithm_of, checksums_of, has_algorithm
from pathformer.files.manifest import NAME, Manifest, State, read_manifest

__all__ = ["READ_WHOLE", "REPAIRABLE", "Fault", "Saved", "check_file", "find_faults", "holds", "open_save", "read_save"]

READ_WHOLE = 256 << 20  # bytes of a folder up to which opening reads everything
_SMALL = 1 << 20  # bytes of a file that is read in any folder
REPAIRABLE = ("index", "calibration.json")  # of an engine: made of its graph and its weights
_TRIES = 3  # to open a folder that is being replaced

T = TypeVar("T")

_REMEDIES = {
    "graph": "the saved graph is damaged: import it again, or take a copy of it",
    "index": "the index is damaged: build it again",
    "engine": "the engine is damaged: fit it again, or take a copy of it",
    "queries": "the queries are damaged: draw them again, or take a copy of them",
    "run": "the run is damaged: train it again with --fresh, or take a copy of it",
    "fit": "the unfinished fit is damaged: start again with --fresh",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is not as it was saved."""

    file: Path
    problem: str
    remedy: str

    def error(self) -> DamagedError:
        """Returns the fault as an error."""
        return DamagedError(self.file, self.problem, self.remedy)


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved folder, with those saved folders within it that belong to the same save."""

    folder: Path
    manifest: Manifest
    remedy: str
    parts: Mapping[str, Saved]
    whole: bool = False  # whether opening has read and checked all content

    @property
    def size(self) -> int:
        """The bytes of all files, those of the parts included."""
        own = sum(states[0].size for states in self.manifest.files.values())
        return own + sum(part.size for part in self.parts.values())

    def has(self, name: str) -> bool:
        """Whether a file or a part was saved; what was laid into the folder since then does not count."""
        return name in self.manifest.files or name in self.parts

    def part(self, name: str) -> Saved:
        """Returns a saved folder within."""
        if name not in self.parts:
            raise self.damaged(name, "was not saved with the rest")
        return self.parts[name]

    def is_current(self) -> bool:
        """Whether no other save took the folder's place."""
        return _id_of(self.folder) == self.manifest.id

    def damaged(self, name: str, problem: str) -> DamagedError:
        """Returns the error of a file that does not hold what it must."""
        return DamagedError(self.folder / name, problem, self.remedy)

    def array(self, name: str, shape: tuple[int, ...] | None = None, kind: str | None = None) -> npt.NDArray[Any]:
        """Maps an array; shape, kind: what it must have, as `(3, 4)` and `i4`."""
        if name not in self.manifest.files:
            raise self.damaged(name, "was not saved with the rest")
        try:
            return map_array(self.folder / name, shape, kind)
        except ValueError as error:
            raise self.damaged(name, str(error)) from error
        except OSError as error:
            raise self.damaged(name, f"cannot be read ({error.strerror})") from error

    def check(self, name: str) -> None:
        """Reads and checks a file whose damage could end the process, if opening has not."""
        if not self.whole and (problem := _problem(self.folder / name, self.manifest.files[name], whole=True)):
            raise self.damaged(name, problem)


def holds(folder: Path, kind: str) -> bool:
    """Whether the manifest of a folder says that this kind of thing was saved there."""
    try:
        return read_manifest(folder, "").kind == kind
    except InputError:
        return (folder / NAME).is_file()  # it may have been, and its damage is what is told


def open_save(folder: Path, kind: str, load: Callable[[Saved], T], without: frozenset[str] = frozenset()) -> T:
    """Returns what `load` makes of a saved folder; everything it opens belongs to one save.

    Another command may replace the folder meanwhile: then it is opened again, twice at most.
    without: names of files and parts that are not looked at, because they are about to be made again.
    """
    for _ in range(_TRIES):
        before = _id_of(folder)
        try:
            saved = read_save(folder, kind, without)
            made = load(saved)
        except Exception:
            if _id_of(folder) == before:
                raise
            continue
        if before == saved.manifest.id and saved.is_current():
            return made
    raise InputError(
        f"{folder} was replaced {_TRIES} times while it was being opened: "
        "wait for the command that writes it, and open it again"
    )


def read_save(folder: Path, kind: str, without: frozenset[str] = frozenset()) -> Saved:
    """Reads the manifest of a folder and checks the files as far as opening does; without: as in `open_save`."""
    faults: list[Fault] = []
    saved = _tree(folder, _REMEDIES[kind], faults.append, without)
    if saved.manifest.kind != kind:
        raise InputError(f"{folder} holds a saved {saved.manifest.kind}, not a saved {kind}")
    whole = saved.size <= READ_WHOLE
    for fault in chain(faults, _faults(saved, whole=lambda state: whole or state.size <= _SMALL)):
        raise fault.error()
    return _marked(saved, whole=whole)


def find_faults(folder: Path, advance: Callable[[str, int], None]) -> tuple[Saved, list[Fault]]:
    """Reads everything in a saved folder and returns what is wrong; advance: called with each file and its bytes.

    The folders of the runs within a run or an unfinished fit have saves of their own, which are read, too.
    """
    faults: list[Fault] = []
    kind = read_manifest(folder, "nothing says any more what was saved there: make it again").kind
    saved = _tree(folder, _REMEDIES[kind], faults.append)
    faults += _faults(saved, whole=lambda state: True, advance=advance)
    if kind in ("run", "fit"):
        for inner in sorted(path for path in folder.iterdir() if (path / NAME).is_file()):
            faults += find_faults(inner, advance)[1]
    return saved, faults


def check_file(file: Path, kind: str) -> None:
    """Checks one file of a folder that has a manifest which knows it."""
    remedy = _REMEDIES[kind]
    if not (file.parent / NAME).is_file():
        return
    for _ in range(_TRIES):
        manifest = read_manifest(file.parent, remedy)
        states = manifest.files.get(file.name)
        problem = _problem(file, states, whole=True) if states else None
        if problem is None:
            return
        if _id_of(file.parent) == manifest.id:
            break
    assert problem is not None
    raise DamagedError(file, problem, remedy)


def _tree(folder: Path, remedy: str, tell: Callable[[Fault], None], without: frozenset[str] = frozenset()) -> Saved:
    """Reads a manifest and those of the parts; tells of parts that are not the ones that were saved with the rest."""
    manifest = read_manifest(folder, remedy)
    manifest = manifest.only(frozenset(manifest.files) - without - {f"{name}/{NAME}" for name in without})
    parts = {}
    for name in manifest.parts:
        file, own = folder / name / NAME, _remedy_of(folder, name, manifest, remedy)
        if problem := _problem(file, manifest.files[f"{name}/{NAME}"], whole=True):
            tell(Fault(file, problem, own))
        else:
            parts[name] = _tree(folder / name, own, tell)
    return Saved(folder, manifest, remedy, parts)


def _remedy_of(folder: Path, name: str, manifest: Manifest, remedy: str) -> str:
    """Says what to do about a file or a part: some of an engine's can be made of the rest.

    Probabilities can not where evidence for single links was learned from all facts: none are left to measure on.
    """
    learned_from_all = any(file.startswith("links/") for file in manifest.files)
    if manifest.kind == "engine" and name in REPAIRABLE and not (name == "calibration.json" and learned_from_all):
        return f"`pathformer check {folder} --repair` makes it again from the rest"
    return remedy


def _marked(saved: Saved, *, whole: bool) -> Saved:
    parts = {name: _marked(part, whole=whole) for name, part in saved.parts.items()}
    return Saved(saved.folder, saved.manifest, saved.remedy, parts, whole)


def _faults(
    saved: Saved, whole: Callable[[State], bool], advance: Callable[[str, int], None] = lambda name, size: None
) -> Iterator[Fault]:
    for name, states in saved.manifest.files.items():
        if name.endswith(f"/{NAME}"):
            continue  # read with the tree
        if problem := _problem(saved.folder / name, states, whole=whole(states[0])):
            yield Fault(saved.folder / name, problem, _remedy_of(saved.folder, name, saved.manifest, saved.remedy))
        advance(name, states[0].size)
    for part in saved.parts.values():
        yield from _faults(part, whole, advance)


def _problem(file: Path, states: tuple[State, ...], *, whole: bool) -> str | None:
    """Says how a file differs from every state that it may be in; whole: reads all of it, not the ends alone."""
    try:
        opened = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe in its place holds nobody up
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror})") from error
    try:
        about = os.fstat(opened)
        if not stat.S_ISREG(about.st_mode):
            return "is not a file any more"
        fitting = [state for state in states if state.size == about.st_size]
        if not fitting:
            return f"has {about.st_size:,} bytes, and {states[0].size:,} were saved"
        if any(_is_same(opened, state, whole=whole) for state in fitting):
            return None
        return "is not as it was saved (its checksum differs)"
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror})") from error
    finally:
        os.close(opened)


def _is_same(opened: int, state: State, *, whole: bool) -> bool:
    algorithm = algorithm_of(state.checksum)
    if not has_algorithm(algorithm):
        return True  # as far as this machine can tell
    content, ends = checksums_of(opened, state.size, algorithm, whole=whole)
    return ends == state.ends and (not whole or content == state.checksum)


def _id_of(folder: Path) -> str | None:
    """Returns the id of the save that lies there, if it can be read."""
    try:
        return read_manifest(folder, "").id
    except InputError:
        return None
