"""Queries and entities as vectors whose inner product is the score, with a bias an entity: the output of a softmax.

    Score(e, q) = <v_q, x_e> + b_e        Dist(e, q) = -Score(e, q)

A distance may be below zero: only the order of entities counts. Rows: a query's vector (d), an entity's
vector and then its bias (d + 1).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.table import Table
from pathformer.plan.measure import Measure
from pathformer.spaces._derived import Bilinear

__all__ = ["SPACE", "Inner"]


class Inner(Bilinear):
    """The space of inner products: one vector of size d an entity, a relation, a query, and a bias an entity."""

    def __init__(self, dim: int, margin: float = 0.0) -> None:
        super().__init__(dim, margin)
        self.entity_width, self.relation_width, self.query_width = dim + 1, dim, dim

    @property
    def range(self) -> float:
        """1 / sqrt(d): the score of an entity and a query of numbers of size 1 is then of size 1 too."""
        return 1.0 / math.sqrt(self.dim)

    def entity_table(self, count: int) -> Table:
        """A table of `count` entities, uniform +-R; biases 0, so that none is preferred at first."""
        table = super().entity_table(count)
        with torch.no_grad():
            table.weight[:, self.dim] = 0.0
        return table

    def anchor(self, entities: Tensor) -> Tensor:
        """Returns x_e, without the bias: (..., d + 1) -> (..., d)."""
        return entities[..., : self.dim]

    @property
    def measure(self) -> Measure:
        """The inner product."""
        return Measure("inner")

    def measured_entities(self, entities: Tensor) -> Tensor:
        """Returns the features: (..., e) -> (..., f)."""
        return self.features(entities)

    def measured_queries(self, queries: Tensor) -> Tensor:
        """Returns -g(q): (..., q) -> (..., f)."""
        return -self.factors(queries)[0]

    def features(self, entities: Tensor) -> Tensor:
        """Returns [x_e; b_e] in float32: (..., d + 1) -> (..., d + 1)."""
        return entities.float()

    def factors(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """-[v_q; 1] and 0: (..., d) -> (..., d + 1), (...) float32."""
        return -F.pad(queries.float(), (0, 1), value=1.0), torch.zeros_like(queries[..., 0], dtype=torch.float32)

    def products(self, queries: Tensor, entities: Tensor) -> tuple[Tensor, Tensor] | None:
        """Returns [v_q; 1] and [x_e; b_e] in their own precision: their product is -Dist.

        Both are filled up with zeros, since matrix units read rows of whole words.
        """
        spare = -self.entity_width % 8
        return F.pad(F.pad(queries, (0, 1), value=1.0), (0, spare)), F.pad(entities, (0, spare))


SPACE = Inner
