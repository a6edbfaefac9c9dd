"""Recall as a target: what an approximate index is measured by when it is built.

S sampled points, N entities, d dimensions.

Recall@10 is the share of the ten truly nearest entities that a search returns. An index is tuned on points such as will
be asked, where they are given, and else on made-up ones. A sample is not the questions, so what is aimed at lies half
way between the target and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.errors import InputError
from pathformer.index._measure import Measure
from pathformer.index.exact import Exact

__all__ = ["WANTED", "Trial", "aim", "check_recall"]

WANTED = 10  # the k of recall@k
_POINTS = 256
_KNOWN = 100  # nearest entities that are known of each point, to see what it takes to find more than ten


@dataclass(frozen=True, eq=False)
class Trial:
    """Points and what should be found for them."""

    points: Tensor  # (S, d) as `Measure.points` gives them
    nearest: npt.NDArray[np.int64]  # (S, 100), nearest first; fewer where there are fewer entities

    @classmethod
    def of(cls, vectors: Tensor, measure: Measure, points: Tensor | None, seed: int) -> Trial:
        """At most 256 points, evenly spaced among those given, or made up, with their exact answers."""
        if points is None:
            points = _made_up(vectors, seed)
        elif points.ndim != 2 or points.shape[1] != vectors.shape[1] or not len(points):
            expected = f"(at least one, {vectors.shape[1]})"
            raise InputError(f"points to tune by have the shape {tuple(points.shape)}, expected {expected}")
        chosen = points[torch.linspace(0, len(points) - 1, min(_POINTS, len(points))).round().long()]
        exact = Exact.build(vectors, measure.metric).search(chosen, min(_KNOWN, len(vectors)))
        return cls(measure.points(chosen.detach()).cpu(), exact.ids.cpu().numpy())

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


def _made_up(vectors: Tensor, seed: int) -> Tensor:
    """Means of two entities: a question's point lies between its answers, near none of them."""
    draws = torch.Generator().manual_seed(seed)
    pairs = torch.randint(len(vectors), (_POINTS, 2), generator=draws).to(vectors.device)
    return vectors[pairs].float().mean(dim=1)
