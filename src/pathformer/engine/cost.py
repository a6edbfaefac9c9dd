"""What a release costs: figures of held-out questions with the weights as trained, and with those of the release.

`compare` finds them; this is what is shown and kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from pathformer.evaluation.ruled import ruled_table

__all__ = ["TOP", "Cost"]

TOP = 10  # predictions that are compared


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Figures before and after, in percent."""

    form: str
    queries: Mapping[str, int]  # structure -> how many held-out ones
    full: Mapping[str, float]  # structure -> MRR
    released: Mapping[str, float]  # likewise
    shared: float  # how many of the ten best predictions both have, the mean over questions

    @property
    def mean(self) -> tuple[float, float]:
        """MRR over all structures, before and after."""
        before, after = (sum(part.values()) / len(part) for part in (self.full, self.released))
        return before, after

    def rows(self) -> list[list[str]]:
        """Header, a line a structure, the mean."""
        header = ["held-out questions", "queries", "MRR as trained", f"MRR in {self.form}", "difference"]
        lines = [[name, f"{n:,}", *_beside(self.full[name], self.released[name])] for name, n in self.queries.items()]
        return [header, *lines, ["mean", f"{sum(self.queries.values()):,}", *_beside(*self.mean)]]

    def table(self) -> Table:
        """For the terminal."""
        header, *rows = self.rows()
        table = ruled_table(header)
        for row in rows:
            table.add_row(*row, style="bold" if row[0] == "mean" else None)
        return table

    def sentence(self) -> str:
        """For people."""
        before, after = self.mean
        return (
            f"In {self.form} the MRR of {sum(self.queries.values()):,} held-out questions is {after:.2f} in place of "
            f"{before:.2f} %, and {self.shared:.1f} % of the {TOP} best predictions are the same."
        )

    def plain(self) -> dict[str, Any]:
        """As JSON keeps it."""
        return asdict(self)


def _beside(before: float, after: float) -> list[str]:
    return [f"{before:.2f}", f"{after:.2f}", f"{round(after - before, 2) + 0.0:+.2f}"]  # no -0.00
