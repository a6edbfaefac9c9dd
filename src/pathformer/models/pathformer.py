"""Pathformer: a transformer reads paths, a small network joins them in forks, recursively (sections IV-A to IV-D).

P paths, T tokens, d embedding size, q numbers of a query, F forks, D disjuncts, I ids.

    E_pq = MP(TrmE_k1(E_in))            Eq. 3: a path, its start followed by its operators
    E_v  = MLP_k2(E_pq_i (+) E_pq_j)    Eq. 4: a variable node, from its branches two by two
    Dist(e, q) = |v_e - v_q|_1          Eq. 5: `spaces.point`

A variable's E_v starts the next path, until the free variable: v_q. What the paper leaves open is a setting below.

In a space of two parameters (App. B: "Pathformer + Box", "+ Beta") each has an encoder of its own, and forks are the
space's own intersection:

    E_pq^1 = MP(TrmE^1(E_in^1)),  E_pq^2 = MP(TrmE^2(E_in^2))       Eqs. 8, 9, which print one encoder; the text has two
    E_pq^k' = Regularizer(E_pq^k)                                   Eqs. 10, 11: `Space.regularize`
    E_v^1, E_v^2 = Intersection(E_pq_1^1', E_pq_1^2', ...)          Eq. 12: `Space.intersection`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from pathformer.config import check_range
from pathformer.models._base import Combine, Model
from pathformer.models._batch import Bank, Batch, Forks, Paths
from pathformer.nn.combine import LeftFold, MeanPair, MLPPair, SetFold
from pathformer.nn.mixer import Mixer
from pathformer.nn.packing import mean_pool
from pathformer.nn.table import Reading, Table, take_once
from pathformer.nn.transformer import SideBySide, TransformerEncoder
from pathformer.spaces._base import Space
from pathformer.spaces._base import build as build_space

__all__ = ["METHOD", "Config", "Pathformer"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Symbol and source of each setting; "silent" = no source says it."""

    dim: int = 800  # d, App. B; 400 for each parameter of "box" and "beta"
    margin: float = 24.0  # gamma, App. B; 30 for "box", 60 for "beta"
    space: str = "point"  # a file of `spaces`: Eq. 5 and Table 8 are "point", "box", "beta"; the others are ours
    space_settings: Mapping[str, bool | float | str] = field(default_factory=dict)  # the space's own; ours
    combine: Combine = "smallest"  # a union's disjuncts, as in the reference code; "probability" is ours
    layers: int = 6  # k_1, App. B
    heads: int = 8  # silent; the sister model's
    hidden: int = 4  # d_ffn / d, App. B
    dropout: float = 0.1  # App. B; the sister model's places: input, attention weights, after ReLU, before residuals
    positions: Literal["absolute", "relative", "none"] = "absolute"  # section V-D; sinusoidal, or Shaw et al.
    window: int = 8  # silent; relative distances beyond it share a vector, longer than any benchmark path
    attention: Literal["bidirectional", "causal"] = "bidirectional"  # section V-C; causal = "no future context"
    norm: Literal["pre", "post"] = "pre"  # silent; the sister model's
    bias: bool = True  # of the attention maps; silent, Table 7's sizes allow both
    scale: bool = True  # tokens times sqrt(d); silent, without it the positions drown the tokens
    gain: Literal["margin", "one"] = "margin"  # initial gain of the last LayerNorm, see `Pathformer`; silent
    residual_start: float = 0.1  # initial size of what attention and feed-forward add; silent, see `Pathformer`
    fork: Literal["mlp", "mixer", "mlp2vector", "set"] = "mlp"  # section IV-C and Table 4; "set" is ours, free of order
    fork_hidden: tuple[int, ...] = (2, 1)  # hidden sizes / d of MLP_k2 (k_2 = 3): silent, fits Table 7 to 0.1 M
    fork_start: Literal["mean", "random"] = "mean"  # what "mlp" and "mlp2vector" are at first; silent, see `Pathformer`
    expected_variables: bool = False  # a path starts from the entity expected at its variable, not from E_v; ours

    def __post_init__(self) -> None:
        check_range(self, "dim", "layers", "heads", "hidden", least=1)
        check_range(self, "dropout", least=0, below=1)
        check_range(self, "residual_start", least=0)
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} does not divide into {self.heads} heads: choose heads that divide dim")
        if self.fork_start == "mean" and self.fork_hidden not in ((2,), (2, 1)):
            raise ValueError(f"fork_hidden {self.fork_hidden} cannot start as a mean: set fork_start to 'random'")
        space = self.make_space()
        if space.has_intersection and self.fork != "mlp":
            raise ValueError(f"fork {self.fork!r} has no effect: space {self.space!r} has its own intersection")
        if space.parts > 1 and not space.has_intersection:
            raise ValueError(f"space {self.space!r} has {space.parts} parts and no intersection to join branches by")
        if self.expected_variables and space.entity_width != space.query_width:
            raise ValueError(f"expected_variables: in space {self.space!r} a row of an entity cannot stand for a query")

    def make_space(self) -> Space:
        """Makes the space of these settings."""
        return build_space(self.space, self.dim, self.margin, self.space_settings)


class Pathformer(Model):
    """A path encoder, a fork network and two tables; the operators' table ends with the token [Negation].

    gain: a path vector is a mean of LayerNorm outputs, each about 1 in size, while entities start within +-R = 26/800.
    With the usual gain of 1 every entity lies about 600 (L1) from every query at first, against a margin of 24, and
    thousands of updates go into shrinking that gain. It starts at margin / d instead, which puts the first distances
    beside the margin (at sqrt(margin / d) among Beta distributions: `Space.beside_margin`); it is trained as before.

    residual_start, fork_start: with random weights six layers bury a token under functions that mean nothing yet, and
    the point of a fork says nothing of its branches. So a path starts near the mean of its normed tokens, and a fork
    as the mean of its branches, two by two (docs/lab/paper-architecture.md).
    """

    name: ClassVar[str] = "pathformer"
    config_type: ClassVar[type[Config]] = Config

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        self.combine = config.combine
        self.space = config.make_space()
        if self.space.parts > 1:
            self.negation = False  # the paper trains positive queries only
        self.entities = self.space.entity_table(entities)
        self.operators = self.space.operator_table(relations + 1)  # the last row is the token [Negation]
        encoders = [_path_encoder(config, deviation) for deviation in self.space.beside_margin]  # TrmE, one a part
        self.paths: nn.Module = encoders[0] if len(encoders) == 1 else SideBySide(encoders)
        own = self.space.intersection()
        self.forks = _fork_network(config, self.space.range) if own is None else own

    def link_tables(self) -> dict[str, Table]:
        """The tables that can start as those of a link predictor."""
        return {"entities": self.entities, "relations": self.operators}

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        """Encodes level by level, paths from anchors, forks, paths from variables, ...: (I,) -> (D, q)."""
        bank, operators = Bank(), self.operators.read()
        for step in batch.steps:
            if isinstance(step, Forks):
                bank.add(self.forks(bank.take(step.values).split(step.sizes)))  # E_v (F, q)
            else:
                tokens = self._tokens(step, ids, entities, operators, bank)  # E_in (T, q)
                paths = mean_pool(self.paths(tokens, step.packing), step.packing)  # E_pq (P, q)
                bank.add(self.space.regularize(paths))
        return bank.take(batch.roots)  # v_q (D, q)

    def _tokens(self, step: Paths, ids: Tensor, entities: Reading, operators: Reading, bank: Bank) -> Tensor:
        """The start of each path, an anchor's row or a variable's value, and the rows of its operators: (T, q).

        Rows enter as they are, not regularized (silent): what is added to a whole row is lost in a LayerNorm.
        An entity that is a point among boxes has no second parameter: its token has the offset 0, as in Query2box.
        """
        values = None  # of the variables that start paths (W, q)
        if len(step.variable_values):
            values = bank.take(step.variable_values).to(operators.weight.dtype)
            if self.config.expected_variables:
                values = self.space.expected_entities(values, entities.weight)
        if self.space.entity_width == self.space.query_width:
            return step.tokens(ids, entities, operators, values)
        starts = self.space.anchor(entities.rows(ids.index_select(0, step.entity_sources))).to(operators.weight.dtype)
        rows = [starts, operators.rows(step.operators(ids, operators))]
        return take_once(torch.cat(rows if values is None else [*rows, values]), step.order)


def _path_encoder(config: Config, deviation: float) -> TransformerEncoder:
    """TrmE_k1 of one part of a query; deviation: see `Space.beside_margin`."""
    return TransformerEncoder(
        config.dim,
        config.layers,
        config.heads,
        config.hidden * config.dim,
        dropout=config.dropout,
        norm=config.norm,
        positions=config.positions,
        window=config.window,
        causal=config.attention == "causal",
        bias=config.bias,
        scale=config.scale,
        gain=deviation if config.gain == "margin" else 1.0,
        residual_start=config.residual_start,
    )


def _fork_network(config: Config, reach: float) -> nn.Module:
    """MLP_k2, or one of its alternatives; reach: see `MLPPair`."""
    d, hidden, start = config.dim, [size * config.dim for size in config.fork_hidden], config.fork_start
    match config.fork:
        case "mlp":
            return LeftFold(MLPPair(d, hidden, start, reach))
        case "mlp2vector":
            return LeftFold(MeanPair(*(MLPPair(d, hidden, start, reach) for _ in range(2))))
        case "mixer":
            return LeftFold(Mixer(d))
        case "set":
            return SetFold(d)


METHOD = Pathformer
