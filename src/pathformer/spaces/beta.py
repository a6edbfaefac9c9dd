"""Queries and entities as Beta distributions, one a dimension (BetaE, Ren and Leskovec 2020).

d embedding size, F forks.

An entity is 2d numbers x, read as alpha, beta = reg(x), reg(x) = clamp(x + 1, 0.05, 1e9); a query is alpha, then beta.
The distance is the divergence from the query to the entity, entity first, summed over the dimensions:

    KL(e || q) = ln B(a2, b2) - ln B(a1, b1) + (a1 - a2) psi(a1) + (b1 - b2) psi(b1) + (a2 - a1 + b2 - b1) psi(a1 + b1)

with a1, b1 of the entity and a2, b2 of the query. Only a2 (psi(a1 + b1) - psi(a1)) + b2 (psi(a1 + b1) - psi(b1)) joins
the two: the rest is a number of the entity and a number of the query (`Bilinear`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pathformer.nn.combine import BranchAttention, mix_branches
from pathformer.spaces._derived import Bilinear

__all__ = ["SPACE", "Beta", "BetaIntersection", "log_beta"]


class Beta(Bilinear):
    """The space of Beta distributions: alpha and beta, each of size d; a relation is d numbers."""

    parts = 2

    def __init__(self, dim: int, margin: float) -> None:
        super().__init__(dim, margin)
        self.entity_width = self.query_width = 2 * dim
        self.relation_width = dim

    @property
    def beside_margin(self) -> tuple[float, ...]:
        """The deviation sqrt(gamma / d): near alpha = beta = 1 the divergence grows with its square."""
        return (math.sqrt(self.margin / self.dim),) * 2

    def anchor(self, entities: Tensor) -> Tensor:
        """Turns rows of entities into queries, reg(x): (..., 2d) -> (..., 2d)."""
        return self.regularize(entities)

    def regularize(self, queries: Tensor) -> Tensor:
        """clamp(x + 1, 0.05, 1e9), in float32: beside 1, bfloat16 keeps two digits. (..., 2d) -> (..., 2d)."""
        return (queries.float() + 1.0).clamp(0.05, 1e9)

    def intersection(self) -> nn.Module:
        """Makes BetaE's attention."""
        return BetaIntersection(self.dim)

    def features(self, entities: Tensor) -> Tensor:
        """psi(a + b) - psi(a), psi(a + b) - psi(b), minus the entropy: (..., 2d) -> (..., 2d + 1)."""
        a, b = self.regularize(entities).chunk(2, dim=-1)
        both, of_a, of_b = torch.digamma(a + b), torch.digamma(a), torch.digamma(b)
        own = (a * (of_a - both) + b * (of_b - both) - log_beta(a, b)).sum(dim=-1, keepdim=True)
        return torch.cat([both - of_a, both - of_b, own], dim=-1)

    def factors(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """a, b, 1 and ln B(a, b): (..., 2d) -> (..., 2d + 1), (...)."""
        queries = queries.float()
        ones = torch.ones_like(queries[..., :1])
        return torch.cat([queries, ones], dim=-1), log_beta(*queries.chunk(2, dim=-1)).sum(dim=-1)


class BetaIntersection(nn.Module):
    """An intersection with weights a_i from [alpha_i; beta_i]: sums of a_i * alpha_i and of a_i * beta_i."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.attention = BranchAttention(2 * dim, 2 * dim, dim)

    def forward(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, 2d), (n_2, 2d), ... -> (F, 2d)."""
        weights = self.attention(branches)
        return mix_branches(torch.cat([weights, weights], dim=-1), branches)


def log_beta(a: Tensor, b: Tensor) -> Tensor:
    """ln B(a, b)."""
    return torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)


SPACE = Beta
