"""A table of rates: how often held-out predictions of each relation and rank were right, whatever their shares say.

It is what probabilities are compared with: they should be nearer the truth than their table. With y right ones of n,

    rate(r, k) = (y_rk + s * y_k / n_k) / (n_rk + s)      relation r, rank k, `_SHRINK` = s

so that a relation with few held-out predictions has nearly the rates of all relations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.files.fields import wrong_field

__all__ = ["Rates"]

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

_SHRINK = 4.0


@dataclass(frozen=True, eq=False)
class Rates:
    """Rates by rank, K of them, the last for all that rank behind."""

    common: Floats  # (K,)
    own: Mapping[int, Floats]  # of directed relations, (K,)

    @classmethod
    def fit(cls, relation: Ids, rank: Ids, right: npt.NDArray[np.bool_]) -> Rates:
        """Counts predictions of at least one question, (n,) each; ranks start from 1."""
        most = int(rank.max())

        def count(which: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
            found = (np.bincount(rank[which] - 1, weights, most) for weights in (right[which], None))
            y, n = (one.astype(np.float64) for one in found)
            return y, n

        y, n = count(np.ones(len(rank), np.bool_))
        common = y / np.maximum(n, 1.0)
        own = {}
        for one in np.unique(relation).tolist():
            y, n = count(relation == one)
            own[one] = (y + _SHRINK * common) / (n + _SHRINK)
        return cls(common, own)

    def probabilities(self, relation: Ids, rank: Ids) -> Floats:
        """Returns the rate of each prediction, (n,)."""
        places = np.minimum(rank, len(self.common)) - 1
        pairs = zip(relation.tolist(), places.tolist(), strict=True)
        return np.array([self.own.get(one, self.common)[place] for one, place in pairs], np.float64)

    def to_json(self) -> dict[str, Any]:
        """Returns plain values; `from_json` reads them back."""
        return {"common": self.common.tolist(), "own": {str(one): rates.tolist() for one, rates in self.own.items()}}

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Rates:
        """Reads what `to_json` returned; ValueError for anything else."""
        if problem := wrong_field(table, {"common": "a list of numbers", "own": "an object of lists of numbers"}):
            raise ValueError(problem)
        rows = [np.array(row, np.float64) for row in (table["common"], *table["own"].values())]
        if not len(rows[0]) or any(row.shape != rows[0].shape for row in rows):
            raise ValueError("not a table of rates")
        return cls(rows[0], dict(zip(map(int, table["own"]), rows[1:], strict=True)))
