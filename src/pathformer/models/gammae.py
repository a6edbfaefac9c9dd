"""GammaE (Yang et al. 2022): Gamma distributions, each parameter moved by a network of its own.

n rows, F forks, d embedding size.

    projection     alpha' = reg(net_a([alpha; alpha_r])),  beta' = reg(net_b([beta; beta_r])),  2d > h > h > h > h > d
    intersection   an attention for each parameter: `spaces.gamma`
    negation       alpha -> 1 / alpha,  beta -> beta - 0.07 where beta >= 1, else beta + 0.07
    Dist(e, q)     = sum KL(Gamma(e) || Gamma(q)): `spaces.gamma`

An anchor enters its first projection as its raw row, without reg, as in the source. Unions are lifted out (DNF), as the
paper does (section V-A.3); the source fits one Gamma distribution to the weighted sum by a network instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from pathformer.models._link_by_link import LinkModel
from pathformer.nn.mlp import MLP
from pathformer.spaces.gamma import Gamma

__all__ = ["METHOD", "Config", "GammaE"]

_ELASTICITY = 0.07  # how far a complement moves beta across 1


@dataclass(frozen=True, kw_only=True)
class Config:
    """Symbol and source of each setting."""

    dim: int = 400  # d of alpha and of beta: 800 numbers together, the paper's d for all; the source has 800 and 800
    margin: float = 60.0  # gamma, the source's script
    hidden: int = 1600  # h, the source's script
    layers: int = 4  # hidden layers of each projection, the source's


class GammaE(LinkModel):
    """Gamma distributions, moved by one network a parameter."""

    name: ClassVar[str] = "gammae"
    config_type: ClassVar[type[Config]] = Config

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        d = config.dim
        self.space = Gamma(d, config.margin)
        self.entities = self.space.entity_table(entities)
        self.relations = self.space.relation_table(relations)
        self.alpha = MLP(2 * d, *[config.hidden] * config.layers, d, xavier=True)  # net_a
        self.beta = MLP(2 * d, *[config.hidden] * config.layers, d, xavier=True)  # net_b
        self.meet = self.space.intersection()

    def enter(self, entities: Tensor, relations: Tensor) -> Tensor:
        """Follows the first relation, from raw rows: (n, 2d), (n, 2d) -> (n, 2d)."""
        return self.project(entities, relations)

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """Follows a relation, reg of both networks: (n, 2d), (n, 2d) -> (n, 2d)."""
        alpha, beta = rows.chunk(2, dim=-1)
        alpha_r, beta_r = relations.chunk(2, dim=-1)
        moved = [self.alpha(torch.cat([alpha, alpha_r], dim=-1)), self.beta(torch.cat([beta, beta_r], dim=-1))]
        return self.space.regularize(torch.cat(moved, dim=-1))

    def negate(self, rows: Tensor) -> Tensor:
        """1 / alpha, and beta to the other side of 1 or towards it: (n, 2d) -> (n, 2d)."""
        alpha, beta = rows.chunk(2, dim=-1)
        turned = torch.where(beta >= 1.0, beta - _ELASTICITY, beta + _ELASTICITY)
        return torch.cat([1.0 / alpha, turned], dim=-1)

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, 2d), (n_2, 2d), ... -> (F, 2d)."""
        met: Tensor = self.meet(branches)
        return met


METHOD = GammaE
