"""Comma-separated names, a triple a record; a quoted name may hold commas, line ends, and quotes written twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pathformer.kg.formats._delimited import read_delimited
from pathformer.kg.formats._registry import Batch, FileFormat, ReadOptions

__all__ = ["FORMAT"]


def _read(path: Path, options: ReadOptions) -> Iterator[Batch]:
    return read_delimited(path, options, delimiter=",", quote='"')


FORMAT = FileFormat("comma-separated text", (".csv",), _read, headed="say --header")
