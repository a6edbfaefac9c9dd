"""Tables of text, parsed by Arrow: many lines at once, on all cores, in bounded memory.

Arrow does not say which line of the file it stumbled over, so the rest of the file is then read slowly, by `_lines`,
which does. It may find nothing wrong: a row may be longer than what Arrow parses at once, a cell may hold line ends.
Cells are taken as bytes and checked here, since Arrow checks text only when it makes some.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from pathformer.errors import GraphFileError
from pathformer.files.source import check_unpacked, open_native
from pathformer.kg.arrow import strings
from pathformer.kg.formats._cells import holds_line_end, names_of, trim
from pathformer.kg.formats._lines import Layout, above_header, layout, triples
from pathformer.kg.formats._registry import Batch, ReadOptions

__all__ = ["read_delimited"]

_BLOCK = 4 << 20  # bytes parsed at once: larger blocks leave the cache and were slower
_ROWS = 1 << 16  # rows of the slow reader made into a batch


def read_delimited(path: Path, options: ReadOptions, delimiter: str, quote: str) -> Iterator[Batch]:
    """The triples of a delimited file; the options overrule the format's delimiter and quote sign."""
    delimiter = delimiter if options.delimiter is None else options.delimiter
    shape = layout(path, options, delimiter, quote if options.quote is None else options.quote)
    if options.skip_bad and (comments := above_header(path, options, shape)):
        yield replace(_batch([]), skipped=len(comments), notes=(str(comments[0]),))
    done = 0
    try:
        for batch in _fast(path, options, shape):
            yield batch
            done += len(batch.heads)
    except _StumbledError:
        yield from _slow(path, options, shape, done)


class _StumbledError(Exception):
    """The fast reader met something that is no triple, or that it does not know how to read."""


def _fast(path: Path, options: ReadOptions, shape: Layout) -> Iterator[Batch]:
    if not shape.simple:
        raise _StumbledError("a header of several lines")
    reported = taken = 0
    with open_native(path, options.encoding) as (stream, position, packed):
        try:
            for table in csv.open_csv(stream, *_arrow_options(shape)):
                taken += table.nbytes
                if packed:
                    check_unpacked(path, taken, position())
                if shape.quote and any(map(holds_line_end, table.columns)):
                    raise _StumbledError("a cell of several lines: some that a quote left open has swallowed?")
                columns, bad = names_of([table.column(_key(number)) for number in shape.chosen])
                names = None if len(bad) else trim(columns)
                if names is None:
                    raise _StumbledError("a cell is no name")
                yield Batch(*names)
                if options.advance is not None:
                    reported, before = position(), reported
                    options.advance(reported - before)
        except (pa.ArrowInvalid, OSError) as error:
            raise _StumbledError(str(error)) from error


def _slow(path: Path, options: ReadOptions, shape: Layout, done: int) -> Iterator[Batch]:
    """The triples after the first `done` ones, and how many lines are none, if those are to be skipped."""
    skipped = 0
    notes: tuple[str, ...] = ()
    rows: list[tuple[str, str, str]] = []
    for row in islice(triples(path, options, shape), done, None):
        if isinstance(row, GraphFileError):
            if not options.skip_bad:
                raise row
            skipped, notes = skipped + 1, notes or (str(row),)
            continue
        rows.append(row)
        if len(rows) == _ROWS:
            yield _batch(rows)
            rows = []
    yield replace(_batch(rows), skipped=skipped, notes=notes)


def _batch(rows: list[tuple[str, str, str]]) -> Batch:
    return Batch(*(strings(row[position] for row in rows) for position in range(3)))


def _arrow_options(shape: Layout) -> tuple[Any, Any, Any]:
    keys = [_key(number) for number in range(len(shape.names))]
    used = (
        keys if shape.quote else sorted({_key(number) for number in shape.chosen})
    )  # a quote may swallow lines in any
    read = csv.ReadOptions(column_names=keys, skip_rows_after_names=shape.header_end, block_size=_BLOCK)
    parse = csv.ParseOptions(
        delimiter=shape.delimiter, quote_char=shape.quote or False, newlines_in_values=bool(shape.quote)
    )
    convert = csv.ConvertOptions(column_types=dict.fromkeys(used, pa.binary()), include_columns=used)
    return read, parse, convert


def _key(number: int) -> str:
    """A column's name for Arrow: a header may hold one name twice."""
    return f"c{number}"
