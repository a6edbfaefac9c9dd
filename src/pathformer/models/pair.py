"""A composed model and a Pathformer that were trained apart, their points side by side: not the paper's.

D disjuncts, N entities; q, e numbers of a query and an entity.

    v_q = v_q1 (+) v_q2,    v_e = v_e1 (+) v_e2,    Dist(e, q) = Dist_1(e, q) + w Dist_2(e, q)

Two models that learned in different ways err in different places, and the sum of their distances errs less than either.
Nothing is trained here: `Pair.of` joins what two runs have learned. Where the second never met a negation, its part of
the point of a query with one is 0, which in the spaces of `SILENT` is as far from every entity.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn

from pathformer.config import check_range, from_mapping
from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.models.composed import Composed
from pathformer.models.composed import Config as ComposedConfig
from pathformer.models.pathformer import Config as PathformerConfig
from pathformer.models.pathformer import Pathformer
from pathformer.nn.table import Reading
from pathformer.plan.layout import Layout
from pathformer.spaces._side_by_side import Beside

__all__ = ["METHOD", "SILENT", "Config", "Pair"]

SILENT = ("hermitian", "sphere")


@dataclass(frozen=True, kw_only=True)
class Config:
    """The settings of both; all ours."""

    one: ComposedConfig = field(default_factory=ComposedConfig)
    other: PathformerConfig = field(default_factory=lambda: PathformerConfig(space="sphere"))
    weight: float = 0.6  # w
    denies: bool = True  # whether the second has learned what a negation is

    def __post_init__(self) -> None:
        check_range(self, "weight", above=0)
        if not self.denies and self.other.space not in SILENT:
            raise ValueError(
                f"in the space {self.other.space!r} no point says nothing, and the second never met a negation: "
                f"train it with negation, or in one of {', '.join(SILENT)}"
            )


class Pair(Model):
    """Two models in one: their entity rows are joined in one table, everything else is apart."""

    name: ClassVar[str] = "pair"
    config_type: ClassVar[type[Config]] = Config

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        self.one, self.other = (
            Composed(config.one, entities, relations),
            Pathformer(config.other, entities, relations),
        )
        tables = [self.one.entities.weight.detach(), self.other.entities.weight.detach()]
        self.space: Beside = Beside(self.one.space, self.other.space, config.weight)
        self.entities = self.one.entities
        self.entities.weight = nn.Parameter(torch.cat(tables, dim=1))
        self.row_parts = {"entities.weight": (self.one.space.entity_width, self.other.space.entity_width)}
        del self.one.entities, self.other.entities  # their rows are columns of the joined table
        self.negation = self.one.negation and (self.other.negation or not config.denies)
        self.combine = self.one.combine

    @classmethod
    @torch.no_grad()
    def of(cls, one: Composed, other: Pathformer, weight: float, *, denies: bool = True) -> Pair:
        """Joins two trained models into one, on the device of the first."""
        config = from_mapping(
            Config, {"one": asdict(one.config), "other": asdict(other.config), "weight": weight, "denies": denies}
        )
        made = cls(config, one.entity_count, one.relation_count)
        parts = {"one": one.state_dict(), "other": other.state_dict()}
        tables = [state.pop("entities.weight").to(one.entities.weight.device) for state in parts.values()]
        state = {f"{part}.{name}": tensor for part, tensors in parts.items() for name, tensor in tensors.items()}
        made.load_state_dict({"entities.weight": torch.cat(tables, dim=1), **state})
        return made.to(one.entities.weight.device).eval()

    def check(self, layout: Layout) -> None:
        """Refuses a layout that the pair or the first model cannot express."""
        super().check(layout)
        self.one.check(layout)

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        """Encodes queries by both models, side by side: (I,) -> (D, q)."""
        tables = self.space.entities_of(entities.weight)
        if entities.fused:  # kernels read rows that lie one after the other
            tables = tables[0].contiguous(), tables[1].contiguous()
        one, other = (
            made.embed(batch, ids, Reading(table)) for made, table in zip((self.one, self.other), tables, strict=True)
        )
        if not self.config.denies and batch.layout.negated:
            other = other * batch.positive[:, None]
        return torch.cat([one, other.to(one.dtype)], dim=1)


METHOD = Pair
