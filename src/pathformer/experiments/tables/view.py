"""A table of the paper as a view of what was measured: paper | ours | difference."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Row", "View"]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure, as the paper prints it and as it came out here; None where there is none."""

    label: str
    paper: float | None
    ours: float | None

    @property
    def difference(self) -> str:
        """Relative, in per cent."""
        if self.paper is None or self.ours is None:
            return ""
        return "0 %" if self.ours == self.paper else f"{100 * (self.ours / self.paper - 1):+.1f} %"

    def cells(self) -> tuple[str, str, str, str]:
        """What the four columns show."""
        return self.label, _figure(self.paper), _figure(self.ours), self.difference


@dataclass(frozen=True, slots=True)
class View:
    """A numbered table."""

    number: int
    title: str
    rows: tuple[Row, ...]

    def to_markdown(self) -> str:
        """As Markdown."""
        lines = [f"**Table {self.number}: {self.title}**", "", "| | paper | ours | difference |", "|---|--:|--:|--:|"]
        return "\n".join(lines + [f"| {' | '.join(row.cells())} |" for row in self.rows])


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:,}"
