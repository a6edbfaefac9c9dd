"""Query2box (Ren et al. 2020) as the reference code of BetaE has it, which scores higher than the first one.

n rows, F forks, d embedding size.

    projection     c' = c + r,  o' = o + o_r
    intersection   attention over centres, the smallest offset shrunk: `spaces.box`
    Dist(e, q)     = |relu(D - o)|_1 + 0.02 |min(D, o)|_1,  D = |v_e - c|: `spaces.box`

As in that code nothing keeps a learned offset o_r from turning negative; the distance stays defined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from pathformer.models._link_by_link import LinkModel
from pathformer.spaces.box import Box

__all__ = ["METHOD", "Config", "Query2Box"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Symbol and source of each setting."""

    dim: int = 400  # d of a centre and of an offset, the reference code's script: the paper's 800 numbers together
    margin: float = 24.0  # gamma, the same script


class Query2Box(LinkModel):
    """Boxes that relations move and widen; no negation."""

    name: ClassVar[str] = "q2b"
    config_type: ClassVar[type[Config]] = Config
    negation = False

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        self.space = Box(config.dim, config.margin)
        self.entities = self.space.entity_table(entities)
        self.relations = self.space.relation_table(relations)
        self.meet = self.space.intersection()

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """[c; o] + [r; o_r]: (n, 2d), (n, 2d) -> (n, 2d)."""
        return rows + relations

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, 2d), (n_2, 2d), ... -> (F, 2d)."""
        met: Tensor = self.meet(branches)
        return met


METHOD = Query2Box
