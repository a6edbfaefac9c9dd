"""The contract between the formats of this folder and the reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["ROLES", "Batch", "FileFormat", "FolderFormat", "ReadOptions"]

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
    advance: Callable[[int], None] | None = None  # told how many bytes were taken


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
