"""What a release costs: figures of held-out questions with the weights as trained, and with those of the release.

`compare` finds them; this is what is shown and kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

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
