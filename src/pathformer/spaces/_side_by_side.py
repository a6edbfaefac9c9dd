"""Two spaces side by side: a row of the one, then a row of the other, and a weighted sum of their distances.

    Dist(e, q) = Dist_1(e_1, q_1) + w Dist_2(e_2, q_2)

If both distances are inner products up to a constant a query, so is their sum: one point, only longer.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pathformer.plan.measure import Measure
from pathformer.spaces._base import Space

__all__ = ["Beside"]


class Beside(Space):
    """Two spaces as one. Their weights belong to the two models whose spaces they are; this space has none."""

    def __init__(self, one: Space, other: Space, weight: float) -> None:
        super().__init__(one.query_width + other.query_width, one.margin)
        self.both, self.weight = (one, other), weight  # in a tuple, so that torch does not count their weights twice
        self.entity_width = one.entity_width + other.entity_width
        self.relation_width = one.relation_width + other.relation_width
        self.query_width = self.dim

    def entities_of(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Splits rows of entities: (..., e) -> (..., e_1), (..., e_2)."""
        one, other = rows.split([space.entity_width for space in self.both], dim=-1)
        return one, other

    def queries_of(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Splits rows of queries: (..., q) -> (..., q_1), (..., q_2)."""
        one, other = rows.split([space.query_width for space in self.both], dim=-1)
        return one, other

    @property
    def measure(self) -> Measure | None:
        """The inner product if both distances are inner products or cosines; else None."""
        one, other = (None if space.measure is None else space.measure.as_inner for space in self.both)
        if one is None or other is None:
            return None
        return Measure("inner", offset=one.offset + self.weight * other.offset)

    def measured_entities(self, entities: Tensor) -> Tensor:
        """The entities' factors of both spaces, one after the other: (..., e) -> (..., f)."""
        if self.measure is None:
            return entities
        return self._products(entities.new_zeros(0, self.query_width), entities)[1]

    def measured_queries(self, queries: Tensor) -> Tensor:
        """The queries' factors of both spaces, one after the other: (..., q) -> (..., f)."""
        if self.measure is None:
            return queries
        return self._products(queries, queries.new_zeros(0, self.entity_width))[0]

    def anchor(self, entities: Tensor) -> Tensor:
        """Each space turns its part of the rows into queries: (..., e) -> (..., q)."""
        parts = zip(self.both, self.entities_of(entities), strict=True)
        return torch.cat([space.anchor(rows) for space, rows in parts], dim=-1)

    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        """Dist_1 + w Dist_2: (..., q) and (..., e) -> (...) float32."""
        parts = zip(self.both, self.queries_of(queries), self.entities_of(entities), strict=True)
        one, other = (space.distance(points, rows).float() for space, points, rows in parts)
        return one + self.weight * other

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity, by each space in its own way: (B, q), (N, e) -> (B, N)."""
        parts = zip(self.both, self.queries_of(queries), self.entities_of(entities), strict=True)
        one, other = (space.distance_to_all(points, rows, chunk) for space, points, rows in parts)
        return one.add_(other, alpha=self.weight) if not one.requires_grad else one + self.weight * other

    def products(self, queries: Tensor, entities: Tensor) -> tuple[Tensor, Tensor] | None:
        """The factors of both spaces, one after the other; None if one space has none."""
        parts = zip(self.both, self.queries_of(queries), self.entities_of(entities), strict=True)
        one, other = (space.products(points, rows) for space, points, rows in parts)
        if one is None or other is None:
            return None
        return torch.cat([one[0], self.weight * other[0]], dim=-1), torch.cat([one[1], other[1]], dim=-1)

    def _products(self, queries: Tensor, entities: Tensor) -> tuple[Tensor, Tensor]:
        found = self.products(queries.float(), entities.float())
        assert found is not None  # who asks knows what the two spaces are
        return found
