"""A table of the paper as a view of what was measured: paper | ours | difference.

Two shapes: a `View` has one figure a line (Tables 9 to 11), a `Grid` one model in three lines (all others). Both print
as text, Markdown, JSON and CSV through `render`, which needs what `Sheet` names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Grid", "Line", "Row", "Sheet", "View"]


class Sheet(Protocol):
    """The parts of a table that `render` prints."""

    @property
    def number(self) -> int:
        """The table's number."""

    @property
    def title(self) -> str:
        """The table's title."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences below it: budget, queries, missing rows."""

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns; those of words are empty or come first."""

    def cells(self) -> list[tuple[str, ...]]:
        """Returns the lines as they are shown."""

    def records(self) -> list[dict[str, Any]]:
        """Returns one entry for each figure, for programs."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure, as the paper prints it and as it came out here; None where there is none."""

    label: str
    paper: float | None
    ours: float | None

    @property
    def difference(self) -> str:
        """The relative difference in percent."""
        if self.paper is None or self.ours is None:
            return ""
        return "0 %" if self.ours == self.paper else f"{_with_sign(100 * (self.ours / self.paper - 1), 1)} %"

    def cells(self) -> tuple[str, str, str, str]:
        """Returns the text of the four columns."""
        return self.label, _figure(self.paper), _figure(self.ours), self.difference


@dataclass(frozen=True, slots=True)
class View:
    """A table of single figures of one dataset."""

    number: int
    title: str
    rows: tuple[Row, ...]
    dataset: str = ""
    notes: tuple[str, ...] = ()

    @property
    def header(self) -> tuple[str, ...]:
        """The four columns."""
        return ("", "paper", "ours", "difference")

    def cells(self) -> list[tuple[str, ...]]:
        """Returns one line for each figure."""
        return [row.cells() for row in self.rows]

    def records(self) -> list[dict[str, Any]]:
        """Returns one entry for each figure."""
        return [
            {"table": self.number, "dataset": self.dataset, "column": row.label, "paper": row.paper, "ours": row.ours}
            for row in self.rows
        ]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One model: the paper's figures, and ours where there is a run."""

    dataset: str
    model: str
    run: str
    paper: Mapping[str, float]
    ours: Mapping[str, float] | None = None
    against: Mapping[str, float] = field(default_factory=dict)  # of the paper, where those have a line of their own
    about: Mapping[str, Any] = field(default_factory=dict)  # budget, weights, queries, device, ... of ours

    def difference(self, column: str) -> float | None:
        """Returns our figure less the paper's."""
        paper, ours = {**self.against, **self.paper}.get(column), (self.ours or {}).get(column)
        return None if paper is None or ours is None else ours - paper


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table with three lines for each model: paper, ours, difference."""

    number: int
    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    digits: int = 1  # as in the paper
    group: str = "dataset"  # what the first column is

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns: dataset or device, model, whose figures; the paper calls every average avg."""
        return (self.group, "model", "", *(column.removesuffix(" negation") for column in self.columns))

    def cells(self) -> list[tuple[str, ...]]:
        """Returns the paper's line where there is one, and where there is a run, ours and the difference."""
        shown: list[tuple[str, ...]] = []
        before = ""
        for line in self.lines:
            names, before = ("" if line.dataset == before else line.dataset, line.model), line.dataset
            if line.paper:
                shown.append((*names, "paper", *self._figures(line.paper)))
                names = ("", "")
            if line.ours is not None:
                shown.append((*names, "ours", *self._figures(line.ours)))
            if (line.paper or line.against) and line.ours is not None:
                differences = [line.difference(column) for column in self.columns]
                shown.append(("", "", "diff", *("" if d is None else _with_sign(d, self.digits) for d in differences)))
        return shown

    def records(self) -> list[dict[str, Any]]:
        """Returns one entry for each figure."""
        return [
            {
                "table": self.number,
                "dataset": line.dataset,
                "model": line.model,
                "run": line.run,
                "column": column,
                "paper": line.paper.get(column),
                "ours": _round((line.ours or {}).get(column)),
                "difference": _round(line.difference(column)),
                **line.about,
            }
            for line in self.lines
            for column in self.columns
        ]

    def _figures(self, figures: Mapping[str, float]) -> Sequence[str]:
        return ["" if column not in figures else f"{figures[column]:.{self.digits}f}" for column in self.columns]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:,}"


def _with_sign(value: float, digits: int) -> str:
    """Writes a number with its sign; a number that rounds to 0 has none.

    >>> _with_sign(-0.04, 1), _with_sign(0.04, 1), _with_sign(-0.06, 1), _with_sign(0.06, 1)
    ('0.0', '0.0', '-0.1', '+0.1')
    """
    shown = f"{value:+.{digits}f}"
    return shown if float(shown) else shown[1:]


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3) + 0.0  # -0.0 + 0.0 is 0.0
