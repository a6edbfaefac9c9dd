"""Queries and entities as Gamma distributions, one a dimension (GammaE, Yang et al. 2022).

d embedding size, F forks.

An entity is 2d numbers x, read as shape alpha and rate beta = reg(x), reg(x) = clamp(x + 1, 0.15, 1e9); a query is
alpha, then beta. The distance is the divergence from the query to the entity, entity first, summed over the dimensions:

    KL(e || q) = (a1 - a2) psi(a1) - ln G(a1) + ln G(a2) + a2 (ln b1 - ln b2) + a1 (b2 - b1) / b1

with a1, b1 of the entity and a2, b2 of the query. Only a2 (ln b1 - psi(a1)) + b2 a1 / b1 joins the two (`Bilinear`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pathformer.nn.combine import BranchAttention, mix_branches
from pathformer.nn.table import Table
from pathformer.spaces._derived import Bilinear

__all__ = ["SPACE", "Gamma", "GammaIntersection"]


class Gamma(Bilinear):
    """The space of Gamma distributions: alpha and beta, each of size d, of an entity, a relation, a query."""

    parts = 2

    def __init__(self, dim: int, margin: float) -> None:
        super().__init__(dim, margin)
        self.entity_width = self.relation_width = self.query_width = 2 * dim

    def entity_table(self, count: int) -> Table:
        """A table of `count` rows, uniform +-3R, as in GammaE's code."""
        return Table(count, self.entity_width, -3 * self.range, 3 * self.range)

    def relation_table(self, count: int) -> Table:
        """A table of `count` rows, uniform +-3R, as in GammaE's code."""
        return Table(count, self.relation_width, -3 * self.range, 3 * self.range)

    def anchor(self, entities: Tensor) -> Tensor:
        """Turns rows of entities into queries, reg(x): (..., 2d) -> (..., 2d)."""
        return self.regularize(entities)

    def regularize(self, queries: Tensor) -> Tensor:
        """clamp(x + 1, 0.15, 1e9), in float32: beside 1, bfloat16 keeps two digits. (..., 2d) -> (..., 2d)."""
        return (queries.float() + 1.0).clamp(0.15, 1e9)

    def intersection(self) -> nn.Module:
        """Makes GammaE's two attentions."""
        return GammaIntersection(self.dim)

    def features(self, entities: Tensor) -> Tensor:
        """ln b - psi(a), a / b, a psi(a) - ln G(a) - a summed: (..., 2d) -> (..., 2d + 1)."""
        a, b = self.regularize(entities).chunk(2, dim=-1)
        of_a = torch.digamma(a)
        own = (a * (of_a - 1.0) - torch.lgamma(a)).sum(dim=-1, keepdim=True)
        return torch.cat([b.log() - of_a, a / b, own], dim=-1)

    def factors(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """a, b, 1 and ln G(a) - a ln b: (..., 2d) -> (..., 2d + 1), (...)."""
        queries = queries.float()
        a, b = queries.chunk(2, dim=-1)
        ones = torch.ones_like(queries[..., :1])
        return torch.cat([queries, ones], dim=-1), (torch.lgamma(a) - a * b.log()).sum(dim=-1)


class GammaIntersection(nn.Module):
    """An intersection with two sets of weights from [alpha_i; beta_i]: sum of a_i * alpha_i and sum of b_i * beta_i."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.alpha = BranchAttention(2 * dim, dim, dim)
        self.beta = BranchAttention(2 * dim, dim, dim)

    def forward(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, 2d), (n_2, 2d), ... -> (F, 2d)."""
        return mix_branches(torch.cat([self.alpha(branches), self.beta(branches)], dim=-1), branches)


SPACE = Gamma
