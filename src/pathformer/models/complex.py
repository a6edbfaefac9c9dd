"""ComplEx: a link predictor, one vector of C^r an entity and a relation (Trouillon et al. 2016).

B links, r rank, N entities, R directed relations.

    Score(h, r, t) = Re sum_i h_i r_i conj(t_i)                       the query (h, r, ?) is the row h r

Trained by the objective `links`: softmax over all tails (Lacroix et al. 2018, with inverse relations in place of
heads), N3 (the same), and softmax over all relations between h and t (Chen et al. 2021). It answers single links and
their unions; longer queries are refused by name. Its tables can start those of another method (`training.start`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from pathformer.config import check_range
from pathformer.models._base import Model
from pathformer.models._batch import Batch, Paths
from pathformer.nn.table import Reading, Table
from pathformer.plan.layout import Layout, PathStep
from pathformer.spaces.hermitian import Hermitian, multiply

__all__ = ["METHOD", "ComplEx", "Config"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Source of each setting; "recalled" = from memory of the paper named, not checked."""

    rank: int = 1000  # r, Lacroix et al.'s for FB15k-237 (recalled)
    n3: float = 0.05  # weight of the cubes, likewise (recalled)
    relation: float = 4.0  # weight of the softmax over relations, Chen et al.'s for FB15k-237 (recalled); 0: none

    def __post_init__(self) -> None:
        check_range(self, "rank", least=1)
        check_range(self, "n3", "relation", least=0)


class ComplEx(Model):
    """A model of two tables: the query (h, r, ?) is the product of two of their rows."""

    name: ClassVar[str] = "complex"
    config_type: ClassVar[type[Config]] = Config
    objective: ClassVar[str] = "links"
    any_length: ClassVar[bool] = False
    negation = False

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        self.space = Hermitian(config.rank)
        self.entities = self.space.entity_table(entities)
        self.operators = self.space.relation_table(relations)

    def link_tables(self) -> dict[str, Table]:
        """The two tables, from which another method can start."""
        return {"entities": self.entities, "relations": self.operators}

    def check(self, layout: Layout) -> None:
        """Refuses everything but single links and their unions."""
        super().check(layout)
        if not _has_only_links(layout):
            self._refuse(
                "take more than one link",
                layout,
                lambda part: not _has_only_links(part),
                lambda method: method is not ComplEx,
            )

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        """Multiplies h and r of every link: (I,) -> (D, 2 r)."""
        heads, relations = self.links(batch, ids)
        return multiply(entities.rows(heads), self.operators.read().rows(relations))

    def links(self, batch: Batch, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the entity and the relation of every link, in the order of the batch's roots: two of (D,)."""
        if not batch.steps:
            return ids, ids
        step = batch.steps[0]
        assert isinstance(step, Paths)
        anchors, relations = ids.index_select(0, step.entity_sources), ids.index_select(0, step.operator_sources)
        return anchors.index_select(0, batch.roots), relations.index_select(0, batch.roots)


def _has_only_links(layout: Layout) -> bool:
    """Whether all paths of a layout have one anchor and one relation."""
    return all(isinstance(step, PathStep) and bool((step.lengths == 2).all()) for step in layout.steps)


METHOD = ComplEx
