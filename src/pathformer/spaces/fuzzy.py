"""Queries and entities as fuzzy sets: points of [0, 1]^d, how much of each of d properties they have.

Chen, Hu and Sun 2022, "Fuzzy Logic Based Logical Query Answering on Knowledge Graphs" (FuzzQE).

    x = reg(row)                                     an entity
    Dist(e, q) = s (1 - cos(x_e, x_q))               s = 20, the factor in FuzzQE's loss

reg is a clamp to [0, 1], or sigma(a x + b) with a and b learnt, 8 and -4 at first. The logics that combine fuzzy sets
are here too: conjunction (t-norm), disjunction (t-conorm), and 1 - x.

    logic          x and y              x or y
    goedel         min(x, y)            max(x, y)
    product        x y                  x + y - x y
    lukasiewicz    max(0, x + y - 1)    min(1, x + y)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from pathformer.nn.table import Table
from pathformer.plan.measure import Measure
from pathformer.spaces._base import unit
from pathformer.spaces._derived import Bilinear

__all__ = ["CONJUNCTIONS", "DISJUNCTIONS", "SPACE", "Fuzzy", "LogicName", "RegularizerName", "negation"]

LogicName = Literal["goedel", "product", "lukasiewicz"]
RegularizerName = Literal["sigmoid", "clamp"]

CONJUNCTIONS: Mapping[LogicName, Callable[[Tensor, Tensor], Tensor]] = {
    "goedel": torch.minimum,
    "product": torch.mul,
    "lukasiewicz": lambda x, y: (x + y - 1.0).clamp_min(0.0),
}
DISJUNCTIONS: Mapping[LogicName, Callable[[Tensor, Tensor], Tensor]] = {
    "goedel": torch.maximum,
    "product": lambda x, y: x + y - x * y,
    "lukasiewicz": lambda x, y: (x + y).clamp_max(1.0),
}


def negation(x: Tensor) -> Tensor:
    """1 - x, in every logic."""
    return 1.0 - x


class Fuzzy(Bilinear):
    """The space of fuzzy sets: one vector of [0, 1]^d an entity and a query; a method decides what a relation is."""

    def __init__(self, dim: int, scale: float = 20.0, regularizer: RegularizerName = "sigmoid") -> None:
        super().__init__(dim, margin=scale / 2)  # for the margin objective, which FuzzQE does not use: cos = 1/2
        self.entity_width = self.relation_width = self.query_width = dim
        self.scale = scale
        self.slope = nn.Parameter(torch.tensor(8.0)) if regularizer == "sigmoid" else None  # a
        self.shift = nn.Parameter(torch.tensor(-4.0)) if regularizer == "sigmoid" else None  # b

    @classmethod
    def for_queries(cls, dim: int, margin: float, **settings: Any) -> Fuzzy:
        """A space of this dimension; the margin is that of the scale."""
        return cls(dim, **settings)

    def entity_table(self, count: int) -> Table:
        """A table of `count` entities, uniform in [0, 1)."""
        return Table(count, self.entity_width, 0.0, 1.0)

    def anchor(self, entities: Tensor) -> Tensor:
        """Turns rows of entities into queries, reg(row): (..., d) -> (..., d)."""
        return self.regularize(entities)

    def regularize(self, queries: Tensor) -> Tensor:
        """Brings numbers into [0, 1]: (..., d) -> (..., d)."""
        if self.slope is None or self.shift is None:
            return queries.clamp(0.0, 1.0)
        return torch.sigmoid(self.slope * queries + self.shift)

    @property
    def measure(self) -> Measure:
        """The inner product with the features, at an offset of s."""
        return Measure("inner", offset=self.scale)

    def measured_entities(self, entities: Tensor) -> Tensor:
        """Returns the features: (..., e) -> (..., f)."""
        return self.features(entities)

    def measured_queries(self, queries: Tensor) -> Tensor:
        """Returns -g(q): (..., q) -> (..., f)."""
        return -self.factors(queries)[0]

    def features(self, entities: Tensor) -> Tensor:
        """reg(e), of length 1: (..., d) -> (..., d) float32."""
        return unit(self.regularize(entities))

    def factors(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Dist(e, q) = s - s <q / |q|, features(e)>: (..., d) -> (..., d), (...) float32."""
        point = unit(queries)
        return -self.scale * point, torch.full_like(point[..., 0], self.scale)


SPACE = Fuzzy
