"""The file formats of graphs, one file each; the folder is the registry.

A format is a module with a `FORMAT`: a `FileFormat` reads one file of named triples, a `FolderFormat` a whole folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from pathformer import plugins
from pathformer.errors import GraphFileError
from pathformer.files.source import plain_name
from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["ROLES", "Batch", "FileFormat", "FolderFormat", "ReadOptions", "file_format", "folder_format", "formats"]


ROLES = ("head", "relation", "tail")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """The options of reading a file; each format uses those that concern it."""

    columns: tuple[str | int, ...] | None = None  # head, relation, tail: header names, or numbers counted from 1
    header: bool | None = None  # None: a first line of well-known words such as subject, predicate, object is one
    delimiter: str | None = None  # None: the format's own
    quote: str | None = None  # None: the format's own; "" for none
    encoding: str = "utf-8"
    literals: bool = False  # keep RDF literals as entities
    skip_bad: bool = False  # leave bad lines out and count them
    file: int = 1  # which file of a reading this is: blank nodes of different files are different
    advance: Callable[[int], None] | None = None  # called with how many bytes were taken


@dataclass(frozen=True, slots=True)
class Batch:
    """Some triples of a file as three Arrow arrays of valid, non-empty strings, and counts of what was left out."""

    heads: Any
    relations: Any
    tails: Any
    _: KW_ONLY
    skipped: int = 0
    literals: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)  # labels that the file itself gives
    notes: tuple[str, ...] = ()  # a bad line as an example, if any was skipped


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of single files of named triples."""

    title: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, ReadOptions], Iterator[Batch]]
    headed: str = ""  # what to do about a header that was read as a triple, in words; "": the format has no such thing
    quoted: str = ""  # the same about quote signs that were read as letters


@dataclass(frozen=True, slots=True)
class FolderFormat:
    """A format of folders that hold a whole graph."""

    title: str
    matches: Callable[[Path], bool]
    read: Callable[[Path, ReadOptions], KnowledgeGraph]


def formats() -> dict[str, FileFormat | FolderFormat]:
    """Every format by name."""
    return {name: plugins.load("formats", name).FORMAT for name in plugins.names("formats")}


def file_format(path: Path, name: str | None = None) -> FileFormat:
    """The format of that name, or the one that the file's suffix tells."""
    known = {n: f for n, f in formats().items() if isinstance(f, FileFormat)}
    if name is not None:
        if name not in known:
            raise GraphFileError(f"no file format {name!r}: expected one of {', '.join(known)}", path)
        return known[name]
    suffix = Path(plain_name(path)).suffix.lower()
    for candidate in known.values():
        if suffix in candidate.suffixes:
            return candidate
    endings = ", ".join(ending for candidate in known.values() for ending in candidate.suffixes)
    found = f"the ending {suffix!r} names no format" if suffix else "the name has no ending that names a format"
    raise GraphFileError(
        f"{found} ({endings}): say which it is with --format (format=...), one of {', '.join(known)}", path
    )


def folder_format(folder: Path) -> FolderFormat | None:
    """The format that a folder is in, by the files that mark it; None when no format knows it."""
    for candidate in formats().values():
        if isinstance(candidate, FolderFormat) and candidate.matches(folder):
            return candidate
    return None
