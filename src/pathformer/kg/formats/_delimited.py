"""Tables of text, parsed by Arrow: many lines at once, on all cores, in bounded memory.

Arrow does not say which line of the file it stumbled over, so on a failure the file is read a second time, slowly, by
`_lines`, which does. Cells are taken as bytes and checked here, so that a bad cell costs its line and not the file;
when bad lines are skipped, bytes that do not decode are marked beforehand, since Arrow decodes what it hands to us.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from pathformer.errors import GraphFileError
from pathformer.kg.arrow import NO_STRINGS
from pathformer.kg.formats._cells import names_of
from pathformer.kg.formats._format import Batch, ReadOptions
from pathformer.kg.formats._lines import Layout, first_problem, layout
from pathformer.kg.source import open_bytes

__all__ = ["read_delimited"]

_BLOCK = 4 << 20  # bytes parsed at once: larger blocks leave the cache and were slower


def read_delimited(path: Path, options: ReadOptions, delimiter: str, quote: str) -> Iterator[Batch]:
    """The triples of a delimited file; the options overrule the format's delimiter and quote sign."""
    shape = layout(path, options, options.delimiter or delimiter, quote if options.quote is None else options.quote)
    broken: list[int] = []  # how many columns each row has that has the wrong number
    skipped = 0
    with open_bytes(path, options.encoding, options.advance, mark=options.skip_bad) as stream:
        try:
            for table in csv.open_csv(stream, *_arrow_options(shape, broken if options.skip_bad else None)):
                columns, bad = names_of([table.column(_key(place)) for place in shape.chosen], marked=options.skip_bad)
                if len(bad) and not options.skip_bad:
                    raise _located(path, options, shape, "a cell that is no name")
                skipped += len(bad)
                yield Batch(*columns)
        except pa.ArrowInvalid as error:
            raise _located(path, options, shape, f"cannot be parsed ({error})") from error
    if skipped or broken:
        first = first_problem(path, options, shape)
        yield Batch(
            NO_STRINGS, NO_STRINGS, NO_STRINGS, skipped=skipped + len(broken), notes=(str(first),) if first else ()
        )


def _arrow_options(shape: Layout, broken: list[int] | None) -> tuple[Any, Any, Any]:
    keys = [_key(place) for place in range(len(shape.names))]
    chosen = [_key(place) for place in shape.chosen]
    read = csv.ReadOptions(column_names=keys, skip_rows_after_names=shape.header_end, block_size=_BLOCK)
    parse = csv.ParseOptions(
        delimiter=shape.delimiter, quote_char=shape.quote or False, newlines_in_values=bool(shape.quote)
    )
    if broken is not None:
        parse.invalid_row_handler = partial(_skip, broken)
    convert = csv.ConvertOptions(column_types=dict.fromkeys(chosen, pa.binary()), include_columns=sorted(set(chosen)))
    return read, parse, convert


def _skip(broken: list[int], row: Any) -> str:
    broken.append(row.actual_columns)
    return "skip"


def _key(place: int) -> str:
    """A column's name for Arrow: a header may hold one name twice."""
    return f"c{place}"


def _located(path: Path, options: ReadOptions, shape: Layout, otherwise: str) -> GraphFileError:
    return first_problem(path, options, shape) or GraphFileError(otherwise, path)
