"""Recall as a target: what an approximate index is measured by when it is built.

S sampled points, N entities, f numbers of each as they are compared.

Recall@10 is the share of the ten truly nearest entities that a search returns. An index is tuned on points such as will
be asked, where they are given, and else on made-up ones. A sample is not the questions, so what is aimed at lies half
way between the target and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from pathformer.index._asked import made_up
from pathformer.index._measure import Measure
from pathformer.index.exact import Exact

__all__ = ["WANTED", "Trial", "aim", "check_recall"]

WANTED = 10  # the k of recall@k
_KNOWN = 100  # nearest entities that are known of each point, to see what it takes to find more than ten


@dataclass(frozen=True, eq=False)
class Trial:
    """Points and what should be found for them."""

    points: Tensor  # (S, f) as `Measure.points` gives them
    nearest: npt.NDArray[np.int64]  # (S, 100), nearest first; fewer where there are fewer entities

    @classmethod
    def of(cls, rows: Tensor, measure: Measure, asked: Tensor | None, seed: int) -> Trial:
        """The points given (S, f), or made-up ones, with their exact answers among rows (N, f)."""
        points = measure.points(made_up(rows, measure, seed)) if asked is None else asked
        exact = Exact.over(rows, measure)
        ids, _ = exact._search(points, min(_KNOWN, len(rows)), np.ones(len(rows), np.bool_))
        return cls(points.cpu(), ids.cpu().numpy())

    def recall(self, found: npt.NDArray[np.int64]) -> float:
        """The share of the ten nearest that were found: found (S, k)."""
        return float((self.nearest[:, :WANTED, None] == found[:, None, :]).any(axis=2).mean())


def aim(recall: float) -> float:
    """What a sample has to show for a target to be kept on other points."""
    return (1.0 + recall) / 2.0


def check_recall(recall: float) -> None:
    """Refuse a target that is none."""
    if not 0.0 < recall <= 1.0:
        raise ValueError(f"recall {recall} is not in (0, 1]")
