"""Parquet: three columns of text or whole numbers, found by well-known names, by choice, or because there are three."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from pathformer.errors import GraphFileError
from pathformer.files.source import open_bytes
from pathformer.kg.formats._registry import Batch, FileFormat, ReadOptions
from pathformer.kg.formats._tables import chosen_columns, read_table

__all__ = ["FORMAT"]


def _read(path: Path, options: ReadOptions) -> Iterator[Batch]:
    with open_bytes(path) as stream:  # Parquet packs inside; a packed file as a whole is rare, and unpacked in memory
        source: Any = pa.BufferReader(stream.read()) if stream.packing else pa.OSFile(os.fsencode(path))
    with source:
        try:
            file = parquet.ParquetFile(source)
            columns = chosen_columns(file.schema_arrow, options, path)
            yield from read_table(_pieces(file, columns, path, options), columns, options, path)
        except (pa.ArrowException, OSError) as error:
            empty = path.stat().st_size == 0
            raise GraphFileError(
                "the file is empty" if empty else f"not a whole Parquet file ({error})", path
            ) from error


def _pieces(file: Any, columns: tuple[str, ...], path: Path, options: ReadOptions) -> Iterator[Any]:
    total, size = max(file.metadata.num_rows, 1), path.stat().st_size
    for piece in file.iter_batches(columns=list(dict.fromkeys(columns))):
        yield piece
        if options.advance is not None:
            options.advance(size * piece.num_rows // total)


FORMAT = FileFormat(
    "Parquet", (".parquet", ".pq"), _read, headed="write the file without that row: its columns have names already"
)
