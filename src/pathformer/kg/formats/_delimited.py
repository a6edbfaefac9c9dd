"""Tables of text, parsed by Arrow: many lines at once, on all cores, in bounded memory.

Arrow does not say which line of the file it stumbled over, so the file is then read a second time, slowly, by `_lines`,
which does; and when bad lines are to be skipped, the rest of the file is read that way. Cells are taken as bytes and
checked here, since Arrow checks text only when it makes some.
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
from pathformer.kg.arrow import strings
from pathformer.kg.formats._cells import names_of, trimmed
from pathformer.kg.formats._format import Batch, ReadOptions
from pathformer.kg.formats._lines import Layout, above_header, layout, triples
from pathformer.kg.source import open_native

__all__ = ["read_delimited"]

_BLOCK = 4 << 20  # bytes parsed at once: larger blocks leave the cache and were slower
_ROWS = 1 << 16  # rows of the slow reader made into a batch


def read_delimited(path: Path, options: ReadOptions, delimiter: str, quote: str) -> Iterator[Batch]:
    """The triples of a delimited file; the options overrule the format's delimiter and quote sign."""
    shape = layout(path, options, options.delimiter or delimiter, quote if options.quote is None else options.quote)
    if options.skip_bad and (comments := above_header(path, options, shape)):
        yield replace(_batch([]), skipped=len(comments), notes=(str(comments[0]),))
    done, reason = 0, "cannot be parsed"
    try:
        for batch in _fast(path, options, shape):
            yield batch
            done += len(batch.heads)
        return
    except _StumbledError as error:
        reason = f"{reason} ({error})"
    if options.skip_bad:
        yield from _slow(path, options, shape, done)
    else:
        problems = (row for row in triples(path, options, shape) if isinstance(row, GraphFileError))
        raise next(problems, GraphFileError(reason, path))


class _StumbledError(Exception):
    """The fast reader met something that is no triple."""


def _fast(path: Path, options: ReadOptions, shape: Layout) -> Iterator[Batch]:
    told = 0
    with open_native(path, options.encoding) as (stream, place):
        try:
            for table in csv.open_csv(stream, *_arrow_options(shape)):
                columns, bad = names_of([table.column(_key(number)) for number in shape.chosen])
                names = None if len(bad) else trimmed(columns)
                if names is None:
                    raise _StumbledError("a cell is no name")
                yield Batch(*names)
                if options.advance is not None:
                    told, before = place(), told
                    options.advance(told - before)
        except (pa.ArrowInvalid, OSError) as error:
            raise _StumbledError(str(error)) from error


def _slow(path: Path, options: ReadOptions, shape: Layout, done: int) -> Iterator[Batch]:
    """The triples after the first `done` ones, and how many lines are none."""
    skipped = 0
    notes: tuple[str, ...] = ()
    rows: list[tuple[str, str, str]] = []
    for row in islice(triples(path, options, shape), done, None):
        if isinstance(row, GraphFileError):
            skipped, notes = skipped + 1, notes or (str(row),)
            continue
        rows.append(row)
        if len(rows) == _ROWS:
            yield _batch(rows)
            rows = []
    yield replace(_batch(rows), skipped=skipped, notes=notes)


def _batch(rows: list[tuple[str, str, str]]) -> Batch:
    return Batch(*(strings(row[place] for row in rows) for place in range(3)))


def _arrow_options(shape: Layout) -> tuple[Any, Any, Any]:
    keys = [_key(number) for number in range(len(shape.names))]
    chosen = [_key(number) for number in shape.chosen]
    read = csv.ReadOptions(column_names=keys, skip_rows_after_names=shape.header_end, block_size=_BLOCK)
    parse = csv.ParseOptions(
        delimiter=shape.delimiter, quote_char=shape.quote or False, newlines_in_values=bool(shape.quote)
    )
    convert = csv.ConvertOptions(column_types=dict.fromkeys(chosen, pa.binary()), include_columns=sorted(set(chosen)))
    return read, parse, convert


def _key(number: int) -> str:
    """A column's name for Arrow: a header may hold one name twice."""
    return f"c{number}"
