"""BetaE (Ren and Leskovec 2020): Beta distributions, moved by a network.

n rows, F forks, d embedding size.

    projection     [alpha'; beta'] = reg(MLP([alpha; beta; r])),  3d > h > h > 2d with ReLU
    intersection   one attention for both parameters: `spaces.beta`
    negation       alpha -> 1 / alpha,  beta -> 1 / beta
    Dist(e, q)     = sum KL(Beta(e) || Beta(q)): `spaces.beta`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from pathformer.models._link_by_link import LinkModel
from pathformer.nn.mlp import MLP
from pathformer.spaces.beta import Beta

__all__ = ["METHOD", "BetaE", "Config"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Symbol and source of each setting."""

    dim: int = 400  # d of alpha and of beta, the reference code's script: the paper's 800 numbers together
    margin: float = 60.0  # gamma, the same script
    hidden: int = 1600  # h, the same script
    layers: int = 2  # hidden layers of the projection, the same script
    union: Literal["dnf", "demorgan"] = "dnf"  # the reference code has both and reports the first


class BetaE(LinkModel):
    """Distributions whose density is high where answers are; the complement turns peaks into valleys."""

    name: ClassVar[str] = "betae"
    config_type: ClassVar[type[Config]] = Config

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        d = config.dim
        self.union = config.union
        self.space = Beta(d, config.margin)
        self.entities = self.space.entity_table(entities)
        self.relations = self.space.relation_table(relations)
        self.projection = MLP(3 * d, *[config.hidden] * config.layers, 2 * d, xavier=True)
        self.meet = self.space.intersection()

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """reg(MLP([alpha; beta; r])): (n, 2d), (n, d) -> (n, 2d)."""
        return self.space.regularize(self.projection(torch.cat([rows, relations], dim=-1)))

    def negate(self, rows: Tensor) -> Tensor:
        """1 / alpha, 1 / beta: (n, 2d) -> (n, 2d)."""
        return 1.0 / rows

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, 2d), (n_2, 2d), ... -> (F, 2d)."""
        met: Tensor = self.meet(branches)
        return met


METHOD = BetaE
