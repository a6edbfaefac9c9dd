"""Tab-separated names, a triple a line. A quote sign is a letter like any other, unless the options say otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pathformer.kg.formats._delimited import read_delimited
from pathformer.kg.formats._registry import Batch, FileFormat, ReadOptions

__all__ = ["FORMAT"]


def _read(path: Path, options: ReadOptions) -> Iterator[Batch]:
    return read_delimited(path, options, delimiter="\t", quote="")


FORMAT = FileFormat(
    "tab-separated text", (".tsv", ".tab", ".txt"), _read, headed="say --header", quoted="say --quote '\"'"
)
