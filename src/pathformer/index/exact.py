"""Looks at every entity: the default, and the reference for the recall of all other indexes.

k wanted, N entities, f numbers of an entity's row.

One pass over the table keeps only the best (`_scan`), so memory is the table's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from pathformer.index._base import Keep, RowIndex
from pathformer.index._files import Arrays, Folder
from pathformer.index._rows import Floats, Ids, Stored, factors_of, to_distances, to_stored
from pathformer.index._scan import BLOCK, lay_out, nearest
from pathformer.plan.measure import Measure

__all__ = ["INDEX", "Config", "Exact"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """`exact` has no options."""


class Exact(RowIndex):
    """The rows of all entities, laid out in blocks."""

    name: ClassVar[str] = "exact"
    config_type: ClassVar[type[Config]] = Config

    def __init__(self, measure: Measure, config: Config, blocks: Stored, factors: Floats | None, alive: Keep) -> None:
        super().__init__(measure, config, blocks.shape[1], alive)
        self._blocks, self._factors = blocks, factors

    @classmethod
    def _build(cls, rows: Stored, measure: Measure, config: Config, sample: Floats | None) -> Self:
        return cls(measure, config, lay_out(rows), factors_of(rows, measure), np.ones(len(rows), np.bool_))

    def nearest_prepared(self, points: Floats, k: int, keep: Keep) -> tuple[Ids, Floats]:
        """Finds the nearest of points that `prepare` gave."""
        ids, sums = nearest(points, self._blocks, keep, k, self._factors)
        return ids, to_distances(sums, self.measure)

    def _add(self, rows: Stored) -> None:
        """Lays out only the last, unfilled block again."""
        full = self.rows // BLOCK
        rest = self._blocks[full:].transpose(0, 2, 1).reshape(-1, self._width)[: self.rows - full * BLOCK]
        new = to_stored(rows, rest)
        self._blocks = np.concatenate([self._blocks[:full], lay_out(np.concatenate([rest, new]))])
        if self._factors is not None:
            more = factors_of(new, self.measure)
            assert more is not None
            self._factors = np.concatenate([self._factors, more])

    def _arrays(self) -> Arrays:
        return {"blocks": self._blocks} | ({} if self._factors is None else {"factors": self._factors})

    @classmethod
    def _open(cls, arrays: Folder, measure: Measure, config: Config) -> Self:
        factors = None if measure.kind == "l1" else arrays["factors"]
        return cls(measure, config, arrays["blocks"], factors, np.array(arrays["alive"]))


INDEX = Exact
