"""How far probabilities can be trusted: the calibration error, the Brier score, and a picture of both.

n predictions with probability p and truth y (1 right, 0 wrong).

    ECE    sum over bins of  share of predictions in the bin * |mean p - mean y|     15 bins of equal mass
    Brier  mean (p - y)^2, beside the score of always giving the base rate, mean y
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.query.picture.svg import Svg

__all__ = ["BINS", "Bin", "Reliability", "draw_reliability", "reliability"]

BINS = 15


@dataclass(frozen=True, slots=True)
class Bin:
    """A bin of predictions with about the same probability."""

    count: int
    predicted: float  # mean probability
    observed: float  # share of right predictions


@dataclass(frozen=True, slots=True)
class Reliability:
    """A comparison of probabilities with what turned out to be true."""

    bins: tuple[Bin, ...]  # in order of probability
    predictions: int
    right: int
    brier: float
    base_brier: float  # Brier score of the base rate

    @property
    def ece(self) -> float:
        """The expected calibration error."""
        gaps = sum(part.count * abs(part.predicted - part.observed) for part in self.bins)
        return gaps / max(self.predictions, 1)

    def plain(self) -> dict[str, Any]:
        """Returns plain values; `from_plain` reads them back."""
        return {**asdict(self), "bins": [asdict(part) for part in self.bins], "ece": self.ece}

    @classmethod
    def from_plain(cls, table: Mapping[str, Any]) -> Reliability:
        """Reads what `plain` returned."""
        bins = tuple(Bin(**part) for part in table["bins"])
        return cls(bins, table["predictions"], table["right"], table["brier"], table["base_brier"])


def reliability(probabilities: npt.NDArray[np.float64], truth: npt.NDArray[np.bool_], bins: int = BINS) -> Reliability:
    """Compares probabilities with the truth, both (n,)."""
    order = np.argsort(probabilities, kind="stable")
    p, y = probabilities[order], truth[order].astype(np.float64)
    parts = [part for part in np.array_split(np.arange(len(p)), bins) if len(part)]
    rate = float(y.mean()) if len(y) else 0.0
    return Reliability(
        tuple(Bin(len(part), float(p[part].mean()), float(y[part].mean())) for part in parts),
        len(p),
        int(y.sum()),
        float(((p - y) ** 2).mean()) if len(y) else 0.0,
        rate * (1.0 - rate),
    )


_SIDE, _LEFT, _TOP = 320.0, 64.0, 48.0


def draw_reliability(shown: Reliability, title: str = "How sure, and how often right") -> str:
    """Draws the bins as dots, probability given against share that was right, as SVG; on the line both are equal."""
    svg = Svg(_LEFT + _SIDE + 32, _TOP + _SIDE + 78)
    top = max((max(part.predicted, part.observed) for part in shown.bins), default=1.0)
    limit = next(size for size in (0.1, 0.2, 0.5, 1.0) if size >= min(top, 1.0) or size == 1.0)

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + _SIDE * x / limit, _TOP + _SIDE * (1.0 - y / limit)

    svg.text(_LEFT + _SIDE / 2, 22, title, 14, 60)
    for tick in range(5):
        value = limit * tick / 4
        (x, _), (_, y) = at(value, 0.0), at(0.0, value)
        svg.add("line", x1=x, y1=_TOP, x2=x, y2=_TOP + _SIDE, stroke="#e4e4e4")
        svg.add("line", x1=_LEFT, y1=y, x2=_LEFT + _SIDE, y2=y, stroke="#e4e4e4")
        svg.text(x, _TOP + _SIDE + 14, f"{100 * value:g} %", 11)
        svg.text(_LEFT - 24, y, f"{100 * value:g} %", 11)
    (x1, y1), (x2, y2) = at(0.0, 0.0), at(limit, limit)
    svg.add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="#888", stroke_dasharray="5 4")
    for part in shown.bins:
        x, y = at(part.predicted, part.observed)
        words = f"{part.count:,} predictions, probability {part.predicted:.1%}, right {part.observed:.1%}"
        svg.add("circle", f"<title>{words}</title>", cx=x, cy=y, r=4.5, fill="#1f6feb", fill_opacity=0.8)
    svg.text(_LEFT + _SIDE / 2, _TOP + _SIDE + 34, "probability given", 12)
    svg.add(
        "text", "share that was right", x=14, y=_TOP + _SIDE / 2, font_size=12, fill="#222", text_anchor="middle",
        transform=f"rotate(-90 14 {_TOP + _SIDE / 2:g})",
    )  # fmt: skip
    figures = f"ECE {shown.ece:.3f}, Brier {shown.brier:.4f} (base rate {shown.base_brier:.4f})"
    svg.text(_LEFT + _SIDE / 2, _TOP + _SIDE + 56, f"{figures}, {shown.predictions:,} predictions", 11, 100)
    return svg.render()
