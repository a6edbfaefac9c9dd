"""Queries and entities as vectors of C^r, kept as r real and then r imaginary parts.

    Score(e, q) = Re <v_q, conj v_e> = <v_q, v_e> over the 2 r numbers        Dist(e, q) = -Score(e, q)

A distance below zero is nothing special: what counts is which entity is nearer.
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
    """One vector of r complex numbers an entity, a relation, a query."""

    def __init__(self, dim: int, margin: float = 0.0) -> None:
        super().__init__(dim, margin)
        self.entity_width = self.relation_width = self.query_width = 2 * dim

    @classmethod
    def for_queries(cls, dim: int, margin: float, **settings: Any) -> Hermitian:
        """A space of rank dim / 2."""
        if dim % 2:
            raise ValueError(f"dim {dim} is odd: complex numbers have two parts")
        return cls(dim // 2, margin, **settings)

    def can_copy_rows(self, source: Space) -> bool:
        """A product of copied rows has the score that it had."""
        return isinstance(source, Hermitian)

    @property
    def range(self) -> float:
        """R: scores of r products of three numbers, uniform +-R, then spread by 0.1, so all entities start about equal.

        4 r (R^2 / 3)^3 = 0.1^2. Smaller ones would take many updates to leave 0, where every gradient vanishes.
        """
        return float(math.sqrt(3.0) * (0.1**2 / (4.0 * self.dim)) ** (1.0 / 6.0))

    @property
    def measure(self) -> Measure:
        """The inner product."""
        return Measure("inner")

    def features(self, entities: Tensor) -> Tensor:
        """v_e: (..., 2 r) -> the same in float32."""
        return entities.float()

    def factors(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """-v_q and 0: (..., 2 r) -> (..., 2 r), (...) float32."""
        return -queries.float(), torch.zeros_like(queries[..., 0], dtype=torch.float32)

    def products(self, queries: Tensor, entities: Tensor) -> tuple[Tensor, Tensor] | None:
        """v_q and v_e, in the precision that they have: their product is -Dist."""
        return queries, entities


def multiply(one: Tensor, other: Tensor) -> Tensor:
    """x y, number by number: (..., 2 r) and (..., 2 r) -> (..., 2 r)."""
    a, b = one.chunk(2, dim=-1)
    c, d = other.chunk(2, dim=-1)
    return torch.cat([a * c - b * d, a * d + b * c], dim=-1)


def conjugate(rows: Tensor) -> Tensor:
    """(..., 2 r) -> (..., 2 r)."""
    real, imaginary = rows.chunk(2, dim=-1)
    return torch.cat([real, -imaginary], dim=-1)


def between(heads: Tensor, tails: Tensor) -> Tensor:
    """Rows whose inner products with relations are ComplEx's scores of the links from h to t: two (..., 2 r) -> one."""
    return conjugate(multiply(heads, conjugate(tails)))


def cubes(rows: Tensor) -> Tensor:
    """sum_i |x_i|^3, the cube of the nuclear 3-norm's factors: (..., 2 r) -> (...) float32."""
    real, imaginary = rows.float().chunk(2, dim=-1)
    return (real.square() + imaginary.square()).pow(1.5).sum(dim=-1)


SPACE = Hermitian
