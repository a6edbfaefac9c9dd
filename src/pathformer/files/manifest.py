"""The manifest of a saved folder: what was saved, by which save, and the size and checksum of each file.

```
manifest.json   format, version, kind, id (of the save), time, program, files, checksum (of all this)
files           name -> size, checksum of the content and, for a file over 64 KiB, of its two ends
```

A folder is walked, so a manifest covers whatever the folder holds. A folder within it that has a manifest of its own
(the graph of an engine) stands in it as that manifest alone, whose checksum covers the rest.

The folder of a run is written file by file. There a file that is about to be replaced has two rows until it is done, so
that a kill at any moment leaves a file that the manifest knows.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from pathformer import __version__
from pathformer.errors import DamagedError, InputError
from pathformer.files.checksum import ENDS, algorithm_of, checksum_of, checksums_of
from pathformer.files.fields import wrong_field

__all__ = ["KINDS", "NAME", "Manifest", "State", "read_manifest", "seal", "walk"]

NAME = "manifest.json"
KINDS = ("graph", "index", "engine", "queries", "run", "fit")  # a run and an unfinished fit are written file by file
_FORMAT, _VERSION = "pathformer manifest", 1
_FIELDS = {"kind": "text", "id": "text", "time": "text", "program": "text", "files": "an object"}
_STATE = {"size": "a count", "checksum": "text", "ends": "text"}
_LONGEST = 1 << 26  # bytes of a manifest


@dataclass(frozen=True, slots=True)
class State:
    """A file as it was saved."""

    size: int
    checksum: str
    ends: str  # the checksum of the first and the last 64 KiB

    @classmethod
    def of(cls, file: Path, *, flush: bool = False) -> Self:
        """Reads a file; flush: and has the system write it to the disk."""
        opened = os.open(file, os.O_RDONLY)
        try:
            if flush:
                os.fsync(opened)
            size = os.fstat(opened).st_size
            return cls(size, *checksums_of(opened, size))
        finally:
            os.close(opened)

    @classmethod
    def from_json(cls, saved: Any) -> Self:
        """Reads what `to_json` returned; raises ValueError for anything else."""
        if not isinstance(saved, dict):
            raise ValueError("no object")
        told = {"ends": saved.get("checksum"), **saved}
        if problem := wrong_field(told, _STATE):
            raise ValueError(problem)
        return cls(*(told[name] for name in _STATE))

    def to_json(self) -> dict[str, Any]:
        """Returns plain values; the ends of a small file are the file."""
        told = asdict(self)
        if self.size <= ENDS:
            del told["ends"]
        return told


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a save consists of."""

    kind: str
    files: Mapping[str, tuple[State, ...]]  # the newest first; several only while a file is being replaced
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    time: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    program: str = __version__

    @property
    def parts(self) -> list[str]:
        """The names of the folders within that have a manifest of their own."""
        return [name.removesuffix(f"/{NAME}") for name in self.files if name.endswith(f"/{NAME}")]

    def write(self, file: Path) -> None:
        """Writes the manifest and flushes it to the disk; the name is not there whole at every moment."""
        files = {
            name: {**newest.to_json(), **({"before": [state.to_json() for state in older]} if older else {})}
            for name, (newest, *older) in sorted(self.files.items())
        }
        told = {"format": _FORMAT, "version": _VERSION, **{name: getattr(self, name) for name in _FIELDS}}
        told["files"] = files
        told["checksum"] = checksum_of(_canonical(told))
        with file.open("w", encoding="utf-8") as opened:
            opened.write(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
            opened.flush()
            os.fsync(opened.fileno())

    def with_file(self, name: str, *states: State) -> Manifest:
        """Returns the manifest of a later save, in which a file is in one of these states."""
        return Manifest(self.kind, {**self.files, name: states})

    def only(self, names: frozenset[str]) -> Manifest:
        """Returns the manifest without the files that are not among these."""
        return replace(self, files={name: states for name, states in self.files.items() if name in names})


def read_manifest(folder: Path, remedy: str) -> Manifest:
    """Reads the manifest of a folder; remedy: what to do if it is damaged or missing."""
    file = folder / NAME
    try:
        with file.open("rb") as opened:
            content = opened.read(_LONGEST + 1)
    except FileNotFoundError:
        problem = f"has no {NAME}: it was not saved by this version, or the file was deleted"
        raise DamagedError(folder, problem, remedy) from None
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror})") from error
    try:
        return _parse(content)
    except (ValueError, RecursionError, TypeError, LookupError, AttributeError, ImportError) as error:
        problem = str(error).partition("\n")[0][:80] if isinstance(error, ValueError) else type(error).__name__
        raise DamagedError(file, f"is not the manifest that was saved ({problem})", remedy) from error


def seal(folder: Path, kind: str) -> None:
    """Writes the manifest of a folder that is complete, and has the system write all its files to the disk."""
    files = {name: (State.of(folder / name, flush=True),) for name in walk(folder)}
    Manifest(kind, files).write(folder / NAME)


def walk(folder: Path, below: str = "") -> Iterator[str]:
    """Names the files of a folder that its manifest covers, in order."""
    for path in sorted(folder.iterdir()):
        name = f"{below}{path.name}"
        if path.is_dir() and not path.is_symlink():
            yield from [f"{name}/{NAME}"] if (path / NAME).is_file() else walk(path, f"{name}/")
        elif name != NAME:
            yield name


def _parse(content: bytes) -> Manifest:
    if len(content) > _LONGEST:
        raise ValueError(f"longer than {_LONGEST:,} bytes")
    told = json.loads(content)
    if not isinstance(told, dict) or told.get("format") != _FORMAT:
        raise ValueError(f"not of the format {_FORMAT!r}")
    if told.get("version") != _VERSION:
        raise ValueError(f"version {told.get('version')!r}, this program reads {_VERSION}")
    if problem := wrong_field(told, {**_FIELDS, "checksum": "text"}):
        raise ValueError(problem)
    own = told.pop("checksum")
    if _has_changed(_canonical(told), own):
        raise ValueError("its own checksum differs")
    if told["kind"] not in KINDS:
        raise ValueError(f"of the kind {told['kind']!r}")
    files = {
        _inside(name): (State.from_json(entry), *(State.from_json(each) for each in entry.get("before", ())))
        for name, entry in told["files"].items()
    }
    return Manifest(**{name: told[name] for name in _FIELDS} | {"files": files})


def _has_changed(content: bytes, checksum: str) -> bool:
    """Whether bytes have another checksum; without the library that computed it here, they pass."""
    try:
        return checksum_of(content, algorithm_of(checksum)) != checksum
    except ImportError:
        return False


def _inside(name: str) -> str:
    if name.startswith("/") or ".." in name.split("/"):
        raise ValueError(f"{name!r} lies outside of the folder")
    return name


def _canonical(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode()
