"""BIQE: the whole query read at once by a transformer (Kotnis, Lawrence and Niepert, AAAI 2021).

D disjuncts, T tokens, d embedding size.

    tokens        every route from the target to an anchor, ended by [SEP], one after the other (`_sequences`)
    x_t           = token + position within its own route, both learnt
    H             = TrmE(x), all tokens attend to all
    v_q           = the mean of H at the [MASK] tokens that stand for the target, one a route
    Dist(e, q)    = -(<v_q, x_e> + b_e)                     `spaces.inner`
    loss          = cross-entropy over all entities         the objective `softmax`

The published method scores entities at each such [MASK] and averages the scores; scores are linear in H, so averaging H
first gives the same numbers. Conjunctive queries only: unions by the normal form, no negation.

Written from the published description. The scheme is patented (US 11,748,356): commercial users should check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from pathformer.config import check_range
from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.models._sequences import MARKS, FlatSequences, longest_route
from pathformer.nn.combine import mean_branch
from pathformer.nn.table import Reading, take_once
from pathformer.nn.transformer import TransformerEncoder
from pathformer.plan.layout import Layout
from pathformer.spaces.inner import Inner

__all__ = ["BIQE", "METHOD", "Config"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Symbol and source of each setting; this paper reimplemented BIQE and is silent about most of them."""

    dim: int = 800  # d, this paper's for all methods; published: 768 (BERT-base)
    layers: int = 6  # as this paper's Pathformer; published: 12
    heads: int = 8  # as this paper's Pathformer here; published: 12
    hidden: int = 4  # d_ffn / d, published and this paper's
    dropout: float = 0.1  # published
    norm: Literal["pre", "post"] = "pre"  # ours, trains without a long warm-up; published: post
    positions: int = 64  # tokens of the longest route that can be read; silent, 8 suffice for the benchmark

    def __post_init__(self) -> None:
        check_range(self, "dim", "layers", "heads", "hidden", "positions", least=1)
        check_range(self, "dropout", least=0, below=1)
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} does not divide into {self.heads} heads: choose heads that divide dim")


class BIQE(Model):
    """A model of one encoder and three tables: entities, relations, and marks ([MASK], [SEP] and positions)."""

    name: ClassVar[str] = "biqe"
    config_type: ClassVar[type[Config]] = Config
    any_length: ClassVar[bool] = False
    negation = False
    objective: ClassVar[str] = "softmax"

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        c, d = config, config.dim
        self.space: Inner = Inner(d)
        self.entities = self.space.entity_table(entities)
        self.relations = self.space.relation_table(relations)
        self.marks = self.space.relation_table(MARKS + c.positions)
        self.encoder = TransformerEncoder(
            d, c.layers, c.heads, c.hidden * d, dropout=c.dropout, norm=c.norm, positions="none"
        )

    def check(self, layout: Layout) -> None:
        """Refuses routes with more tokens than there are positions, too."""
        super().check(layout)
        limit = self.config.positions
        if (longest := longest_route(layout)) > limit:
            what = f"read a route of {longest} tokens, only of {limit} (its setting 'positions')"
            self._refuse(what, layout, lambda part: longest_route(part) > limit, lambda method: method.any_length)

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        """Reads every disjunct whole: (I,) -> (D, d)."""
        sequences = batch.sequences
        hidden = self.encoder(self._tokens(sequences, ids, entities), sequences.packing)  # H (T, d)
        at_targets = take_once(hidden, sequences.targets).split(sequences.sizes)
        return take_once(mean_branch(at_targets), sequences.back)

    def _tokens(self, sequences: FlatSequences, ids: Tensor, entities: Reading) -> Tensor:
        """Makes the tokens x: (T, d)."""
        anchors = self.space.anchor(entities.rows(ids.index_select(0, sequences.entity_sources)))  # (A, d)
        relations = self.relations.read().rows(ids.index_select(0, sequences.relation_sources))  # (O, d)
        marks = self.marks.weight[: MARKS + sequences.longest]
        return (sequences.marks.to(marks.dtype) @ marks).index_add(0, sequences.places, torch.cat([anchors, relations]))


METHOD = BIQE
