"""MLP: every operator a small network over points (Amayuelas et al. 2022, "Neural Methods for Logical Reasoning").

n rows, F forks, d embedding size.

    projection      q' = MLP_p([q; r])       2d > 2d > d
    intersection    q' = MLP_i([x; y])       2d > 2d > d, pairwise from the left: and(and(x1, x2), x3)
    negation        q' = MLP_n(q)            d > d > d
    Dist(e, q) = |v_e - v_q|_1               `spaces.point`

Three networks, 8.97 M numbers at d = 800 (the paper's 9.0 M). One hidden layer and no dropout, as in the reference
code; its union network is never used there and is left out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from pathformer.config import check_range
from pathformer.models._link_by_link import LinkModel
from pathformer.nn.combine import LeftFold, MLPPair
from pathformer.nn.mlp import MLP
from pathformer.spaces.point import Point

__all__ = ["METHOD", "Config", "MLPModel"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Source of each setting."""

    dim: int = 800  # d, reference code and this paper
    margin: float = 24.0  # gamma, reference code
    start: Literal["inputs", "random"] = "inputs"  # of projection and intersection; silent, see `MLPModel`

    def __post_init__(self) -> None:
        check_range(self, "dim", least=1)


class MLPModel(LinkModel):
    """A model of three networks and two tables.

    The reference code starts its entity table at zero and so gives every anchor the same first row; here it starts
    uniform in +-R like those of the other methods (the paper is silent). The projection starts as q + r and the
    intersection as the mean of its inputs; the reference code takes random weights, and the paper is silent
    (docs/lab/paper-architecture.md compares them).
    """

    name: ClassVar[str] = "mlp"
    config_type: ClassVar[type[Config]] = Config

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        d = config.dim
        self.space = Point(d, config.margin)
        self.entities, self.relations = self.space.entity_table(entities), self.space.relation_table(relations)
        near = config.start == "inputs"
        self.projection = MLPPair(d, [2 * d], "sum" if near else "random")
        self.intersection = LeftFold(MLPPair(d, [2 * d], "mean" if near else "random"))
        self.negation_net = MLP(d, d, d)

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """MLP_p([q; r]): (n, d), (n, d) -> (n, d)."""
        moved: Tensor = self.projection(rows, relations)
        return moved

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """MLP_i([MLP_i([x1; x2]); x3]) ...: (n_1, d), (n_2, d), ... -> (F, d)."""
        met: Tensor = self.intersection(branches)
        return met

    def negate(self, rows: Tensor) -> Tensor:
        """MLP_n(q): (n, d) -> (n, d)."""
        turned: Tensor = self.negation_net(rows)
        return turned


METHOD = MLPModel
