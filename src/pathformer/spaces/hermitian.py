"""Queries and entities as vectors of C^r, kept as r real and then r imaginary parts.

    Score(e, q) = Re <v_q, conj v_e> = <v_q, v_e> over the 2 r numbers        Dist(e, q) = -Score(e, q)

A distance may be below zero: only the order of entities counts.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from pathformer.plan.measure import Measure
from pathformer.spaces._base import Space
from pathformer.spaces._derived import Bilinear

__all__ = ["SPACE", "Hermitian", "between", "conjugate", "cubes", "multiply"]


class Hermitian(Bilinear):
    """The space of ComplEx: one vector of r complex numbers an entity, a relation, a query."""

    def __init__(self, dim: int, margin: float = 0.0) -> None:
        super().__init__(dim, margin)
        self.entity_width = self.relation_width = self.query_width = 2 * dim

    @classmethod
    def for_queries(cls, dim: int, margin: float, **settings: Any) -> Hermitian:
        """A space of rank dim / 2."""
        if dim % 2:
            raise ValueError(f"dim must be even, since complex numbers have two parts, got {dim}")
        return cls(dim // 2, margin, **settings)

    def can_copy_rows(self, source: Space) -> bool:
        """A product of copied rows has the score that it had."""
        return isinstance(source, Hermitian)

    @property
    def range(self) -> float:
        """R with 4 r (R^2 / 3)^3 = 0.1^2: first scores, r products of three numbers uniform in +-R, deviate by 0.1.

        So all entities start about equal. Smaller numbers would take many updates to leave 0, where gradients vanish.
        """
        return float(math.sqrt(3.0) * (0.1**2 / (4.0 * self.dim)) ** (1.0 / 6.0))

    @property
    def measure(self) -> Measure:
        """The inner product."""
        return Measure("inner")

    def features(self, entities: Tensor) -> Tensor:
        """Returns v_e in float32: (..., 2 r) -> (..., 2 r)."""
        return entities.float()

    def factors(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """-v_q and 0: (..., 2 r) -> (..., 2 r), (...) float32."""
        return -queries.float(), torch.zeros_like(queries[..., 0], dtype=torch.float32)

    def products(self, queries: Tensor, entities: Tensor) -> tuple[Tensor, Tensor] | None:
        """Returns v_q and v_e in their own precision: their product is -Dist."""
        return queries, entities


def multiply(one: Tensor, other: Tensor) -> Tensor:
    """Multiplies complex numbers one by one, x y: (..., 2 r) and (..., 2 r) -> (..., 2 r)."""
    a, b = one.chunk(2, dim=-1)
    c, d = other.chunk(2, dim=-1)
    return torch.cat([a * c - b * d, a * d + b * c], dim=-1)


def conjugate(rows: Tensor) -> Tensor:
    """Conjugates complex numbers: (..., 2 r) -> (..., 2 r)."""
    real, imaginary = rows.chunk(2, dim=-1)
    return torch.cat([real, -imaginary], dim=-1)


def between(heads: Tensor, tails: Tensor) -> Tensor:
    """Makes rows whose products with relations are ComplEx's scores of links from h to t: two (..., 2 r) -> one."""
    return conjugate(multiply(heads, conjugate(tails)))


def cubes(rows: Tensor) -> Tensor:
    """sum_i |x_i|^3, the cube of the nuclear 3-norm's factors: (..., 2 r) -> (...) float32."""
    real, imaginary = rows.float().chunk(2, dim=-1)
    return (real.square() + imaginary.square()).pow(1.5).sum(dim=-1)


SPACE = Hermitian
