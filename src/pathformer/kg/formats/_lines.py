"""Reads a delimited file line by line in plain Python: its first line, and all lines when one of them is bad.

Every file's first line is read this way, and the whole of a file that the fast reader refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathformer.errors import GraphFileError
from pathformer.kg.formats._cells import OUTER, or_leave_out, problem_of
from pathformer.kg.formats._records import Record, open_quote_hint, records
from pathformer.kg.formats._registry import ROLES, ReadOptions
from pathformer.text import closest

__all__ = ["Layout", "above_header", "choose_columns", "is_relation", "layout", "rows", "triples", "well_known"]

# No single letters: a small graph may have a triple (s, p, o), and no line should be lost in silence.
_WELL_KNOWN: tuple[frozenset[str], ...] = (
    frozenset({"head", "subject", "source", "src", "from", "start"}),
    frozenset({"relation", "predicate", "property", "rel", "relationship", "edge", "type"}),
    frozenset({"tail", "object", "target", "dst", "to", "end"}),
)

_DELIMITERS = "\t;,| "  # what a line of one column may have between its words, the likeliest first
_STATEMENT = re.compile(r"(<\S+>|_:\S+) +<\S+> +\S.*\.")  # of N-Triples


@dataclass(frozen=True, slots=True)
class Layout:
    """The way in which the lines of one file are cut into cells."""

    delimiter: str
    quote: str  # "" for none
    names: tuple[str, ...]  # one a column, made up where the file has no header
    chosen: tuple[int, ...]  # the columns of head, relation, tail
    header_end: int  # lines up to and with the header; 0 without one
    simple: bool = True  # whether Arrow, which counts rows, finds the same end of it


def layout(path: Path, options: ReadOptions, delimiter: str, quote: str) -> Layout:
    """Reads the first line of a file and decides how to cut the others."""
    _check_signs(path, delimiter, quote)
    first, simple = _first_row(path, options, delimiter, quote)
    line, end, cells, odd, problem = first
    if problem is not None:
        raise GraphFileError(f"{problem}{_letters(options)}", path, line)
    cells = [cell.strip(OUTER) for cell in cells]
    known = well_known(cells) if options.columns is None else None
    named = options.columns is not None and any(isinstance(column, str) for column in options.columns)
    header = (named or known is not None) if options.header is None else options.header
    names = tuple(cells) if header else tuple(f"column {number + 1}" for number in range(len(cells)))
    if options.columns is not None:
        chosen = choose_columns(names, options.columns, path, line)
        return Layout(delimiter, quote, names, chosen, end if header else 0, simple or not header)
    if len(cells) != 3 and known is None and not options.skip_bad:
        raise GraphFileError(_wrong_width(cells, 3, delimiter, quote if odd else "", options), path, line)
    if known is None:
        names = names if len(names) == 3 else tuple(f"column {number}" for number in (1, 2, 3))
    return Layout(delimiter, quote, names, known or (0, 1, 2), end if header else 0, simple or not header)


def _first_row(path: Path, options: ReadOptions, delimiter: str, quote: str) -> tuple[Record, bool]:
    """The first row that is not to be skipped, and whether it and those above it are a whole line each.

    Arrow loses count at a NUL byte in a line that it is told to leave out, besides at a cell of several lines.
    """
    simple = True
    for record in records(path, options.encoding, delimiter, quote):
        simple &= record.problem is None and record.line == record.end and not any("\0" in c for c in record.cells)
        if not (options.skip_bad and _is_no_row(record)):
            return record, simple
    raise GraphFileError("the file holds no triples: expected a head, a relation and a tail on each line", path)


def _check_signs(path: Path, delimiter: str, quote: str) -> None:
    if len(delimiter) != 1 or len(quote) > 1:
        raise GraphFileError(
            f"the delimiter and the quote sign must be one character each, found {delimiter!r} and {quote!r}", path
        )
    if not f"{delimiter}{quote}".isascii() or delimiter in "\0\r\n" or quote in ("\0", "\r", "\n", delimiter):
        wanted = "the delimiter and the quote sign must be two different ASCII characters other than line ends"
        raise GraphFileError(f"{wanted}, found {delimiter!r} and {quote!r}", path)


def choose_columns(
    names: Sequence[str],
    wanted: Sequence[str | int],
    path: Path,
    line: int | None = None,
    roles: tuple[str, ...] = ROLES,
) -> tuple[int, ...]:
    """The positions of the columns for head, relation and tail, given by name or by number counted from 1."""
    if len(wanted) != len(roles):
        raise GraphFileError(f"{len(wanted)} columns were chosen, expected {len(roles)}: {', '.join(roles)}", path)
    positions = tuple(_place(names, column, path, line) for column in wanted)
    twice = next((position for position in positions if positions.count(position) > 1), None)
    if twice is not None:
        shared = " and ".join(role for role, position in zip(roles, positions, strict=True) if position == twice)
        raise GraphFileError(f"column {twice + 1} is chosen as {shared}: each needs a column of its own", path)
    return positions


def rows(path: Path, encoding: str, delimiter: str, quote: str) -> Iterator[tuple[int, int, list[str]]]:
    """First line, last line and cells of every row; bytes that do not decode become lone surrogates."""
    for record in records(path, encoding, delimiter, quote):
        if record.problem is not None:
            raise GraphFileError(record.problem, path, record.line)
        yield record[:3]


def above_header(path: Path, options: ReadOptions, shape: Layout) -> list[GraphFileError]:
    """The comments above a header, which is looked for below them when bad lines are skipped."""
    found = []
    for line, end, cells, _, problem in records(path, options.encoding, shape.delimiter, shape.quote):
        if end >= shape.header_end:
            break
        problem = problem or _wrong_width(cells, len(shape.names), shape.delimiter, "", options)
        found.append(GraphFileError(problem, path, line))
    return found


def triples(path: Path, options: ReadOptions, shape: Layout) -> Iterator[tuple[str, str, str] | GraphFileError]:
    """Yields head, relation and tail of every line, or the error that says why a line is not a triple."""
    head, relation, tail = shape.chosen
    found = records(path, options.encoding, shape.delimiter, shape.quote, len(shape.names))
    begun = False  # whether a line was a triple: the delimiter is no question any more
    for line, end, raw, odd, broken in found:
        if end > shape.header_end:
            cells = [cell.strip(OUTER) for cell in raw]
            problem = f"{broken}{_letters(options)}" if broken else _problem(cells, shape, odd, options, begun)
            begun = begun or problem is None
            yield (
                (cells[head], cells[relation], cells[tail]) if problem is None else GraphFileError(problem, path, line)
            )


def _is_no_row(record: Record) -> bool:
    """Whether a record is damaged, or a comment."""
    cells = record.cells
    return record.problem is not None or (cells[0].startswith("#") and len(cells) != 3 and well_known(cells) is None)


def _letters(options: ReadOptions) -> str:
    """Returns the hint for a broken quote."""
    return "" if options.skip_bad else ". Close it, or read quote signs as letters with --quote '' (quote=\"\")"


def _problem(cells: list[str], shape: Layout, odd: bool, options: ReadOptions, begun: bool) -> str | None:
    if len(cells) != len(shape.names):
        return _wrong_width(cells, len(shape.names), shape.delimiter, shape.quote if odd else "", options, begun)
    for role, position in zip(ROLES, shape.chosen, strict=True):
        problem = problem_of(cells[position])
        if problem is not None:
            return or_leave_out(f"the {role} {problem}", options.skip_bad)
    return None


def _wrong_width(
    cells: list[str], expected: int, delimiter: str, open_quote: str, options: ReadOptions, begun: bool = False
) -> str:
    found = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
    message = f"found {found}, expected {expected} separated by {delimiter!r}"
    way_on = "" if options.skip_bad else " Leave such lines out with --skip-bad (skip_bad=True)"
    if open_quote:
        return f"{message}{open_quote_hint(open_quote)}"
    if cells[0].startswith("#"):
        return f"{message}. Is the line a comment?{way_on}"
    if len(cells) == 1 and begun:
        return f"{message}{way_on and '.'}{way_on}"
    if len(cells) == 1 and expected == 3 and _STATEMENT.fullmatch(cells[0]):
        return f'{message}. It looks like N-Triples: read it with --format ntriples (format="ntriples")'
    if len(cells) == 1 and expected == 3:
        return f"{message}. {_other_delimiter(cells[0]) or f'Is the delimiter another one?{way_on}'}"
    more = ". Choose three of them by name or number with --columns (columns=...)"
    more = more if len(cells) > 3 and expected == 3 else f"{way_on and '.'}{way_on}"
    return f"{message}{more}"


def _other_delimiter(line: str) -> str:
    """Names a delimiter that cuts a line into three, else into more; spaces alone prove nothing for more."""
    signs = [sign for sign in _DELIMITERS if line.count(sign) == 2]
    signs += [sign for sign in _DELIMITERS.strip(" ") if line.count(sign) > 2]
    if not signs:
        return ""
    cells = line.split(signs[0])
    advice = f"With {signs[0]!r} there are {len(cells)}: set it with --delimiter (delimiter=...)"
    alone = len(cells) == 3 or well_known(cells) is not None
    return advice if alone else f"{advice}, and choose three columns with --columns (columns=...)"


def well_known(cells: Sequence[str]) -> tuple[int, ...] | None:
    """The positions of head, relation and tail in a header of well-known words; None for any other row."""
    words = list(map(_word, cells))
    positions = [[position for position, word in enumerate(words) if word in role] for role in _WELL_KNOWN]
    return tuple(found[0] for found in positions) if all(len(found) == 1 for found in positions) else None


def is_relation(cell: str) -> bool:
    """Whether a word is a usual header of the column of relations."""
    return _word(cell) in _WELL_KNOWN[1]


def _word(cell: str) -> str:
    return cell.strip().casefold().lstrip("#")


def _place(names: Sequence[str], column: str | int, path: Path, line: int | None) -> int:
    if isinstance(column, int):
        if not 1 <= column <= len(names):
            raise GraphFileError(f"no column {column}: the file has {len(names)}, counted from 1", path, line)
        return column - 1
    if column not in names:
        near = closest(column, names)
        hint = f"closest: {near[0]!r}" if near else f"the columns are {', '.join(map(repr, names))}"
        raise GraphFileError(f"no column {column!r}; {hint}", path, line)
    return names.index(column)
