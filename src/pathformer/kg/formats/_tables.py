"""Tables of Arrow: finds the three columns of a triple and checks that their cells are names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from pathformer.errors import GraphFileError
from pathformer.kg.formats._cells import as_bytes, names_of, problem_of
from pathformer.kg.formats._lines import choose_columns, well_known
from pathformer.kg.formats._registry import ROLES, Batch, ReadOptions

__all__ = ["chosen_columns", "read_table"]

_ROWS = 1 << 16  # rows at once: bounds the memory


def chosen_columns(schema: Any, options: ReadOptions, where: Path) -> tuple[str, ...]:
    """The names of the columns that are head, relation and tail: as asked, by well-known names, or the only three."""
    if options.columns is not None:
        positions = choose_columns(schema.names, options.columns, where)
    else:
        known = well_known(schema.names)
        if known is None and len(schema.names) != 3:
            names = ", ".join(map(repr, schema.names))
            way = "choose head, relation and tail by name or number with --columns (columns=...)"
            raise GraphFileError(f"the columns are {names}: {way}", where)
        positions = known or (0, 1, 2)
    for position in positions:
        _check_type(schema.field(position), where)
        _check_alone(schema.names[position], schema.names, where)
    return tuple(schema.names[position] for position in positions)


def read_table(pieces: Iterable[Any], columns: tuple[str, ...], options: ReadOptions, where: Path) -> Iterator[Batch]:
    """The triples of record batches; rows are counted from 1 in messages."""
    done = 0
    note: str | None = None
    for piece in (part.slice(start, _ROWS) for part in pieces for start in range(0, part.num_rows, _ROWS)):
        cells = [piece.column(name) for name in columns]
        names, bad = names_of(cells)
        if len(bad) and note is None:
            first = int(bad[0])
            error = _problem([as_bytes(column)[first].as_py() for column in cells], where, done + first + 1)
            if not options.skip_bad:
                raise error
            note = str(error)
            yield Batch(*names, skipped=len(bad), notes=(note,))
        else:
            yield Batch(*names, skipped=len(bad))
        done += piece.num_rows


def _problem(cells: list[Any], where: Path, row: int) -> GraphFileError:
    problems = [(role, problem_of(cell)) for role, cell in zip(ROLES, cells, strict=True)]
    role, problem = next((role, problem) for role, problem in problems if problem is not None)
    return GraphFileError(f"the {role} {problem}", where, row)


def _check_alone(name: str, names: list[str], where: Path) -> None:
    if names.count(name) > 1:
        raise GraphFileError(f"{names.count(name)} columns are called {name!r}: give each a name of its own", where)


def _check_type(field: Any, where: Path) -> None:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if not (text or pa.types.is_integer(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        raise GraphFileError(f"the column {field.name!r} holds {field.type}, expected text or whole numbers", where)
