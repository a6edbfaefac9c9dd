"""Recall as a target: the points that an approximate index is tuned by when it is built, and what it finds of them.

S points, N entities, f numbers of each.

Recall@10 is the share of the ten truly nearest entities that a search returns. An index is tuned by points such as will
be asked, where they are given, and else by made-up ones. A sample is not the questions, so the aim lies half way
between the target and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.errors import DivergedError, InputError
from pathformer.index._rows import Floats, Ids, Stored, prepare
from pathformer.index.exact import Exact
from pathformer.index.kernels.bf16 import to_float32
from pathformer.plan.measure import Measure

__all__ = ["WANTED", "Trial", "aim", "check_recall", "made_up_points", "sample_points"]

WANTED = 10  # the k of recall@k
_KNOWN = 100  # nearest entities that are known of each point, to see what it takes to find more than ten
_POINTS = 256
_MIXED = {"l1": 2, "cosine": 2, "inner": 8}  # entities in a made-up point; inner products with few of them are too easy


@dataclass(frozen=True, eq=False)
class Trial:
    """Points and the entities that should be found for them."""

    points: Floats  # (S, f) as `prepare` gives them
    nearest: Ids  # (S, 100), nearest first; fewer where there are fewer entities

    @classmethod
    def of(cls, rows: Stored, measure: Measure, given: Floats | None, seed: int) -> Trial:
        """Returns the given points (S, f), or made-up ones, with their exact answers among rows (N, f)."""
        points = prepare(made_up_points(rows, measure, seed), measure) if given is None else given
        exact = Exact.build(rows, measure)
        return cls(points, exact.nearest_prepared(points, min(_KNOWN, len(rows)), np.ones(len(rows), np.bool_))[0])

    def recall(self, found: Ids) -> float:
        """Returns the share of the ten nearest that were found: found (S, k)."""
        return float((self.nearest[:, :WANTED, None] == found[:, None, :]).any(axis=2).mean())


def sample_points(points: npt.NDArray[Any] | None, width: int, measure: Measure) -> Floats | None:
    """Returns at most 256 of the points (n, f), evenly spaced, as they are measured; None where none are given."""
    if points is None:
        return None
    if points.ndim != 2 or points.shape[1] != width or not len(points):
        raise InputError(f"points to tune by have the shape {tuple(points.shape)}, expected (at least one, {width})")
    if not np.isfinite(points).all():
        raise DivergedError("a point to tune by holds numbers that are not finite: the model's weights diverged")
    chosen = np.linspace(0, len(points) - 1, min(_POINTS, len(points))).round().astype(np.int64)
    return prepare(points[chosen], measure)


def made_up_points(rows: Stored, measure: Measure, seed: int) -> Floats:
    """Returns means of a few entities, (N, f) -> (256, f): a point lies between its answers, near none of them."""
    chosen = np.random.default_rng(seed).integers(len(rows), size=(_POINTS, _MIXED[measure.kind]))
    mixed: Floats = to_float32(rows[chosen]).mean(axis=1, dtype=np.float32)
    return mixed


def aim(recall: float) -> float:
    """Returns what a sample has to show for a target to be kept on other points."""
    return (1.0 + recall) / 2.0


def check_recall(recall: float) -> None:
    """Refuses a target that is not a share."""
    if not 0.0 < recall <= 1.0:
        raise ValueError(f"recall must be above 0 and at most 1, got {recall}")
