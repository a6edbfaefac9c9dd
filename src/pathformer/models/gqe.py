"""GQE (Hamilton et al. 2018) as the reference code of BetaE has it: translations, and attention at forks.

n rows, F forks, d embedding size.

    projection     q' = q + r
    intersection   q  = sum_i a_i * q_i,  a_i = softmax_i(W_2 relu(W_1 q_i + b_1)) in every dimension
    Dist(e, q)     = |v_e - q|_1: `spaces.point`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from pathformer.models._link_by_link import LinkModel
from pathformer.nn.combine import BranchAttention, mix_branches
from pathformer.spaces.point import Point

__all__ = ["GQE", "METHOD", "Config"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Symbol and source of each setting."""

    dim: int = 800  # d, the reference code's script; the paper's d = 800 for all
    margin: float = 24.0  # gamma, the same script


class GQE(LinkModel):
    """Points that relations move; no negation."""

    name: ClassVar[str] = "gqe"
    config_type: ClassVar[type[Config]] = Config
    negation = False

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        self.space = Point(config.dim, config.margin)
        self.entities = self.space.entity_table(entities)
        self.relations = self.space.relation_table(relations)
        self.attention = BranchAttention(config.dim, config.dim, config.dim)

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """q + r: (n, d), (n, d) -> (n, d) float32."""
        return rows.float() + relations

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """sum_i a_i * q_i: (n_1, d), (n_2, d), ... -> (F, d)."""
        return mix_branches(self.attention(branches), branches)


METHOD = GQE
