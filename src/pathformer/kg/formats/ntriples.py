"""N-Triples: RDF, a statement a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pathformer.kg.formats._rdf import read_rdf
from pathformer.kg.formats._registry import Batch, FileFormat, ReadOptions

__all__ = ["FORMAT"]


def _read(path: Path, options: ReadOptions) -> Iterator[Batch]:
    return read_rdf(path, options, "N_TRIPLES", by_line=True)


FORMAT = FileFormat("N-Triples (RDF)", (".nt",), _read)
