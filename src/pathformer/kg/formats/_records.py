"""Reads a delimited file record by record in plain Python; a quote that is left open costs one line.

Lines end as Arrow's do, with \\n, \\r\\n or \\r, and empty lines are no records. A quoted cell may hold line ends. So
may one whose quote was never meant to be opened, and then whole lines would be lost in it: a record of several lines
must be written to the letter, every cell closed where it ends. One that is not is its first line alone, a bad one, and
the lines below it are read for themselves.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pathformer.errors import GraphFileError
from pathformer.files.source import open_bytes
from pathformer.limits import limit, too_much

__all__ = ["Record", "open_quote_hint", "records"]


class Record(NamedTuple):
    """A row of a file."""

    line: int  # its first
    end: int  # its last
    cells: list[str]  # bytes that do not decode are lone surrogates
    odd: bool  # whether the first line has an odd number of quote signs: one of them may be left open
    problem: str | None = None  # why it is no row at all


def records(path: Path, encoding: str, delimiter: str, quote: str, width: int | None = None) -> Iterator[Record]:
    """All rows of a file; quote: "" for none; width: cells that a row of several lines must have."""
    with open_bytes(path, encoding) as stream:
        text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8", "surrogateescape", newline="")
        if quote:
            yield from _read_quoted(_Lines(_lines(path, text, delimiter)), delimiter, quote, width)
            return
        for number, line in enumerate(_lines(path, text, delimiter), 1):
            content = line.rstrip("\r\n")
            if content:
                yield Record(number, number, content.split(delimiter), odd=False)


def _lines(path: Path, text: io.TextIOWrapper, delimiter: str) -> Iterator[str]:
    """The lines of a file; one that would take much memory is refused before it is read or cut."""
    longest, most, number = limit("line"), limit("columns"), 0
    while line := text.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise GraphFileError(too_much("line", f"the line has more than {longest:,} signs"), path, number)
        if len(line) > most and (columns := line.count(delimiter) + 1) > most:
            raise GraphFileError(too_much("columns", f"the line has {columns:,} columns"), path, number)
        yield line


def open_quote_hint(quote: str) -> str:
    """Returns the hint for a bad line with an odd number of quote signs."""
    return f". The line has an odd number of quote signs {quote}: is one left open?"


class _Lines:
    """The lines of a file, with those that make the record at hand, all but the first of which can be read again."""

    def __init__(self, text: Iterator[str]) -> None:
        self._text = text
        self._again: list[str] = []  # the last one comes first
        self.taken: list[str] = []
        self.number = 0  # of the last line

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._again.pop() if self._again else next(self._text)
        self.number += 1
        self.taken.append(line)
        return line

    def back(self) -> None:
        """Go back to the end of the record's first line."""
        self._again.extend(reversed(self.taken[1:]))
        self.number -= len(self.taken) - 1


def _read_quoted(lines: _Lines, delimiter: str, quote: str, width: int | None) -> Iterator[Record]:
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
    while True:
        lines.taken.clear()
        problem, cells = None, []
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = f"cannot be parsed ({error})"
        odd = lines.taken[0].count(quote) % 2 == 1
        first, end = lines.number - len(lines.taken) + 1, lines.number
        if problem is not None:
            problem += open_quote_hint(quote) if odd else ""
        elif any("\n" in cell or "\r" in cell for cell in cells):
            problem = _left_open(lines.taken, end, delimiter, quote)
        if problem is not None or (end > first and width not in (None, len(cells))):
            lines.back()
            end = first
        if cells or problem is not None:
            yield Record(first, end, cells, odd, problem)


def _left_open(taken: list[str], end: int, delimiter: str, quote: str) -> str | None:
    """Says what is wrong with the quotes of a record, strictly read; None if nothing is."""
    try:
        next(csv.reader(taken, delimiter=delimiter, quotechar=quote, strict=True))
    except csv.Error as error:
        never = "end of data" in str(error)
        closed = "never closed" if never else f"closed in line {end}, with more behind it"
        return f"a quote sign {quote} is opened here and {closed}"
    return None
