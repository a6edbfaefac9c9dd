"""Queries and entities as points of R^d under the L1 norm.

The paper's prose says Euclidean and its Eq. 5 prints the L1 norm; the reference code takes L1, and so do we.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pathformer.nn.table import Reading
from pathformer.plan.measure import Measure
from pathformer.spaces._base import Space
from pathformer.spaces.kernels.l1_rank import L1Table

__all__ = ["SPACE", "Point"]


class Point(Space):
    """The space of points: one vector of size d an entity, a relation, a query."""

    def __init__(self, dim: int, margin: float) -> None:
        super().__init__(dim, margin)
        self.entity_width = self.relation_width = self.query_width = dim

    @property
    def measure(self) -> Measure:
        """The L1 norm."""
        return Measure("l1")

    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        """Eq. 5 (label eq3):  Dist(e, q) = |v_e - v_q|_1.  (..., d) and (..., d) -> (...) float32.

        In float32 for rows of any type, as in the kernels: near 24 bfloat16 has steps of 1/8, and entities would tie.
        """
        return (entities.float() - queries.float()).abs().sum(dim=-1)

    def distance_to(self, queries: Tensor, entities: Reading, ids: Tensor) -> Tensor:
        """Distances to candidates; the kernel keeps no (B, K, d) rows."""
        if entities.fused:
            from pathformer.nn.kernels.table import l1_distance

            return l1_distance(queries, entities.weight, entities.gradient, ids)
        return super().distance_to(queries, entities, ids)

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity; without gradients by kernels that add in the same order on every device."""
        if torch.is_grad_enabled() and (queries.requires_grad or entities.requires_grad):
            return super().distance_to_all(queries, entities, chunk)
        return L1Table.of(entities).distances(queries)


SPACE = Point
