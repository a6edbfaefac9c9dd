"""FuzzQE: queries are fuzzy sets, and, or, not are those of a fuzzy logic (Chen, Hu and Sun, AAAI 2022).

n rows, F forks, d embedding size, J bases.

    projection      q' = reg(LN(q W_r + b_r)),   W_r = sum_j c_rj M_j,  b_r = sum_j c_rj v_j;  LN without parameters
    intersection    q' = T(x, y), the t-norm of the logic;   union q' = S(x, y), its t-conorm;   negation q' = 1 - q
    Dist(e, q) = 20 (1 - cos(reg(e), q))                     `spaces.fuzzy`
    loss       = mean_k -log s(Dist(e'_k, q) - Dist(e, q))   the objective `bpr`

A relation is J coefficients of maps that all relations share (`nn.blended_linear`). The union is embedded, and may be
projected on: no normal form is needed, though `union` offers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.config import check_range
from pathformer.models._link_by_link import LinkModel
from pathformer.nn.blended_linear import Blend
from pathformer.nn.combine import left_fold
from pathformer.nn.table import Table
from pathformer.plan.layout import UnionWay
from pathformer.spaces.fuzzy import CONJUNCTIONS, DISJUNCTIONS, Fuzzy, LogicName, RegularizerName, negation

__all__ = ["METHOD", "Config", "FuzzQE"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Source of each setting; [EFO1] = the settings of an independent benchmark for FB15k-237 (and NELL995)."""

    dim: int = 800  # d, [EFO1] (1000) and this paper's d = 800 for all
    bases: int = 150  # J, [EFO1] (30)
    logic: LogicName = "goedel"  # [EFO1] (product); the official script's default
    regularizer: RegularizerName = "sigmoid"  # [EFO1] (clamp); the official NELL995 script clamps
    scale: float = 20.0  # factor of the cosine in the loss, official code
    union: UnionWay = "native"  # the t-conorm, as published; demorgan is the same set, dnf another score

    def __post_init__(self) -> None:
        check_range(self, "dim", "bases", least=1)
        check_range(self, "scale", above=0)


class FuzzQE(LinkModel):
    """A model of J shared maps and two tables: fuzzy sets of entities, coefficients of relations."""

    name: ClassVar[str] = "fuzzqe"
    config_type: ClassVar[type[Config]] = Config
    native: ClassVar[bool] = True
    objective: ClassVar[str] = "bpr"
    union: UnionWay = "native"

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        self.union = config.union
        self.space: Fuzzy = Fuzzy(config.dim, config.scale, config.regularizer)
        self.entities = self.space.entity_table(entities)
        self.relations = Table(relations, config.bases, 0.0, 1.0)  # c
        nn.init.xavier_normal_(self.relations.weight)
        self.projection = Blend(config.dim, config.bases)

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """reg(LN(q W_r + b_r)): (n, d), (n, J) -> (n, d)."""
        moved = self.projection(rows, relations)
        return self.space.regularize(F.layer_norm(moved, moved.shape[-1:]))

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """The t-norm, as it is defined: (n_1, d), (n_2, d), ... -> (F, d).

        The official code sends the result of a product or Lukasiewicz conjunction through LN and reg. That breaks the
        logic, and the independent settings above leave it out.
        """
        return left_fold(branches, CONJUNCTIONS[self.config.logic])

    def unite(self, branches: Sequence[Tensor]) -> Tensor:
        """The t-conorm: (n_1, d), (n_2, d), ... -> (F, d)."""
        return left_fold(branches, DISJUNCTIONS[self.config.logic])

    def negate(self, rows: Tensor) -> Tensor:
        """1 - q: (n, d) -> (n, d)."""
        return negation(rows)


METHOD = FuzzQE
