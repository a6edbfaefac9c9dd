"""ConE (Zhang et al. 2021): sector cones, moved by a network, closed under complement.

n rows, F forks, d embedding size.

    projection     [t'; s'] = [ax; ap](MLP([t + t_r; s + s_r])),  2d > h > h > 2d with ReLU
                   t_r = ax(u / R), s_r = ax(v / R) of a relation's row [u; v]
    intersection   mean direction and smallest aperture: `spaces.cone`
    negation       t -> t - pi if t >= 0 else t + pi,  s -> pi - s
    Dist(e, q)     the way to the cone, and a little of the way inside it: `spaces.cone`
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from pathformer.models._link_by_link import LinkModel
from pathformer.nn.mlp import MLP
from pathformer.spaces.cone import Cone, StartName, axis

__all__ = ["METHOD", "ConE", "Config"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Symbol and source of each setting."""

    dim: int = 800  # d, the source's scripts and the paper's; an entity is d numbers, a query d axes and d apertures
    margin: float = 30.0  # gamma, the source's script for FB15k-237; 20 for NELL995
    hidden: int = 1600  # h, the source's
    layers: int = 2  # hidden layers of the projection, the source's
    dropout: float = 0.1  # of apertures at an intersection, the source's for FB15k-237; 0.2 for NELL995
    union: Literal["dnf", "demorgan"] = "dnf"  # the source has both; the paper reports the first
    start: StartName = "margin"  # of the scale m, ours; the source's is "reference": see `spaces.cone`


class ConE(LinkModel):
    """Cones that relations turn and widen; the complement of a cone is a cone."""

    name: ClassVar[str] = "cone"
    config_type: ClassVar[type[Config]] = Config

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        d = config.dim
        self.union = config.union
        self.space = Cone(d, config.margin, config.dropout, config.start)
        self.entities = self.space.entity_table(entities)
        self.relations = self.space.relation_table(relations)
        self.projection = MLP(2 * d, *[config.hidden] * config.layers, 2 * d, xavier=True)
        self.meet = self.space.intersection()

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """Sends a turned and widened cone through the network: (n, 2d), (n, 2d) -> (n, 2d)."""
        moved = rows + axis(relations.float() / self.space.range)
        return self.space.regularize(self.projection(moved))

    def negate(self, rows: Tensor) -> Tensor:
        """Takes the rest of the circle: (n, 2d) -> (n, 2d)."""
        middle, half = rows.chunk(2, dim=-1)
        opposite = torch.where(middle >= 0, middle - math.pi, middle + math.pi)
        return torch.cat([opposite, math.pi - half], dim=-1)

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, 2d), (n_2, 2d), ... -> (F, 2d)."""
        met: Tensor = self.meet(branches)
        return met


METHOD = ConE
