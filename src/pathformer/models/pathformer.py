"""Pathformer: paths read by a transformer, forks by a small network, recursively (the paper's sections IV-A to IV-D).

P paths, T tokens, d embedding size, V variables, F forks, D disjuncts, I ids.

    E_pq = MP(TrmE_k1(E_in))            Eq. 3: a path, its start followed by its operators
    E_v  = MLP_k2(E_pq_i (+) E_pq_j)    Eq. 4: a variable node, from its branches two by two
    Dist(e, q) = |v_e - v_q|_1          Eq. 5: `spaces.point`

A variable's E_v starts the next path, until the free variable: v_q. What the paper leaves open is a setting below, with
what the sister model of the same group or the reference code does.

In a space of two parameters (App. B: "Pathformer + Box", "+ Beta") each has an encoder of its own, and forks are the
space's own intersection:

    E_pq^1 = MP(TrmE^1(E_in^1)),  E_pq^2 = MP(TrmE^2(E_in^2))       Eqs. 8, 9, which print one encoder; the text has two
    E_pq^k' = Regularizer(E_pq^k)                                   Eqs. 10, 11: `Space.regularize`
    E_v^1, E_v^2 = Intersection(E_pq_1^1', E_pq_1^2', ...)          Eq. 12: `Space.intersection`

Ours, for the recipes: a path may have a base, the product of its start and its relations, to which the encoder adds,
and a variable may start its path as the entity that is expected there:

    E_pq = MP(TrmE(E_in)) + v_start * r_1 * r_2 ...                 `models._compose`
    E_in starts with  sum_e softmax(-Dist(e, E_v)) v_e              in place of E_v

An entity that is expected before a relation r may be expected to have one: softmax(-Dist(e, x) + <w_r, v_e>), w_r the
relation's domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from pathformer.models._base import Combine, Model
from pathformer.models._batch import Bank, Batch, Forks, Paths
from pathformer.models._composed import SPACES, Composition, encoder_of, fork_of, space_of
from pathformer.models._walk import Walk
from pathformer.nn.expectation import expected_rows
from pathformer.nn.fold import Complement
from pathformer.nn.packing import Packing, mean_pool
from pathformer.nn.side_by_side import SideBySide
from pathformer.nn.table import Reading, Table, assemble, take_once

__all__ = ["METHOD", "Config", "Pathformer", "Variable"]

Variable = Literal["vector", "expected"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Symbol and source of each setting; "silent" = no source says it."""

    dim: int = 800  # d, App. B; 400 for each parameter of "box" and "beta"
    margin: float = 24.0  # gamma, App. B; 30 for "box", 60 for "beta"
    space: Literal["point", "box", "beta", "sphere", "hermitian"] = "point"  # Eq. 5; Table 8; the last two (cosine,
    # inner product of d / 2 complex numbers) are ours, for softmax
    temperature: float = 0.05  # of the sphere at first; ours
    learn_temperature: bool = True  # or keep it; ours
    combine: Combine = "smallest"  # of a union's disjuncts, as the reference code; the others are ours
    layers: int = 6  # k_1, App. B
    heads: int = 8  # silent; the sister model's
    hidden: int = 4  # d_ffn / d, App. B
    dropout: float = (
        0.1  # App. B; where: as in the sister model, input, attention weights, after ReLU, before residuals
    )
    positions: Literal["absolute", "relative", "none"] = "absolute"  # section V-D; sinusoidal, or Shaw et al.
    window: int = 8  # silent; relative distances beyond it share a vector, longer than any benchmark path
    attention: Literal["bidirectional", "causal"] = "bidirectional"  # section V-C; causal = "no future context"
    norm: Literal["pre", "post"] = "pre"  # silent; the sister model's
    bias: bool = True  # of the attention maps; silent, Table 7's sizes allow both
    scale: bool = True  # tokens times sqrt(d); silent, without it the positions drown the tokens (1p MRR 3.3 / 13.9)
    gain: Literal["margin", "one", "small"] = "margin"  # initial gain of the last LayerNorm, see `Pathformer`
    fork: Literal["mlp", "mixer", "mlp2vector", "set", "weighed", "both"] = "mlp"  # section IV-C and Table 4;
    # the last three are ours, free of order
    negate: Literal["token", "fork"] = (
        "token"  # [Negation] ends the path; or the fork reads the path without it, denied
    )
    fork_hidden: tuple[int, ...] = (2, 1)  # hidden sizes / d of MLP_k2 (k_2 = 3): silent, fits Table 7 to 0.1 M
    fork_dropout: float = 0.0  # of what the network of "both" reads
    base: Literal["none", "expected"] = "none"  # what the encoder adds to, see `_compose`; ours
    alone: int = 0  # paths of so many operators at most are their base alone; ours
    adds: Literal["everywhere", "roots"] = "everywhere"  # whether to branches of forks too, or only to answers; ours
    variable: Variable = "vector"  # what starts a path from a variable: E_v, or a mean of entities
    sharpness: float = 1.0  # factor of -Dist where an entity is expected; ours, above 1 unlikely ones count less
    domains: bool = False  # whether it is expected to have the relation that comes next, by a row of its own; ours

    def __post_init__(self) -> None:
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} does not divide into {self.heads} heads")
        if min(self.layers, self.heads, self.hidden, self.dim) < 1:
            raise ValueError("dim, layers, heads and hidden are at least 1")
        for name in ("dropout", "fork_dropout"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} {getattr(self, name)} is not in [0, 1)")
        if self.dim % 2 and (self.base != "none" or self.space == "hermitian"):
            raise ValueError(f"dim {self.dim} is odd: complex numbers have two parts")
        if SPACES[self.space].parts > 1 and self.negate != "token":
            raise ValueError(f"negate {self.negate!r} is of points: in {self.space!r} nothing is negated")
        ours = {"alone": 0, "adds": "everywhere"}
        changed = [name for name, usual in ours.items() if getattr(self, name) != usual]
        if self.base == "none" and changed:
            raise ValueError(f"{', '.join(changed)}: of paths with a base, and base is 'none'")
        for name in ("sharpness", "temperature"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"{name} {getattr(self, name)} is not above 0")
        if self.domains and (self.space, self.base) != ("hermitian", "expected"):
            raise ValueError("domains are of the entities that a base of 'expected' ones reads in 'hermitian'")
        if SPACES[self.space].parts > 1 and self.fork != "mlp":
            raise ValueError(f"fork {self.fork!r} is of no use: space {self.space!r} has its own intersection")
        if SPACES[self.space].parts > 1 and (self.base, self.variable) != ("none", "vector"):
            raise ValueError(f"base {self.base!r} and variable {self.variable!r} are of points, not of {self.space!r}")


class Pathformer(Model):
    """A path and a fork encoder, and two tables; the operators' table ends with the token [Negation].

    gain: a path vector is a mean of LayerNorm outputs, each about 1 in size, while entities start within +-R = 26/800.
    With the usual gain of 1 every entity lies about 600 (L1) from every query at first, against a margin of 24, and
    thousands of updates go into shrinking that gain. It starts at margin / d instead, which puts the first distances
    beside the margin (at sqrt(margin / d) among Beta distributions: `Space.beside_margin`); it is trained as before.
    """

    name: ClassVar[str] = "pathformer"
    config_type: ClassVar[type[Config]] = Config

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        c = config
        self.combine = c.combine
        self.space = space_of(c)
        self.entities = self.space.entity_table(entities)
        if self.space.parts > 1:
            self.negation = False  # the paper trains positive queries only
        self.operators = self.space.operator_table(relations + 1)  # the last row is the token [Negation]
        encoders = [encoder_of(c, beside) for beside in self.space.beside_margin]
        self.paths: nn.Module = encoders[0] if len(encoders) == 1 else SideBySide(encoders)
        own = self.space.intersection()
        self.forks = fork_of(c) if own is None else own
        self.product = None if c.base == "none" else Composition(self.negation)
        self.variable: Variable = c.variable
        self.domains = Table(relations, c.dim, 0.0, 0.0) if c.domains else None  # w_r; at first every entity will do
        self.complement = Complement(c.dim) if c.negate == "fork" else None

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        """Encode level by level: paths from anchors, forks, paths from variables, ... (I,) -> (D, q)."""
        operators, bank = self.operators.read(), Bank()
        domains = None if self.domains is None else self.domains.read()
        batch = batch if self.complement is None else batch.lifted
        for place, step in enumerate(batch.steps):
            if isinstance(step, Forks):
                bank.add(self.forks(self._branches(step, bank).split(step.sizes)))  # E_v (F, q)
                continue
            values = None  # of the variables that start its paths (W, q)
            if len(step.variable_values):
                values = bank.take(step.variable_values).to(operators.weight.dtype)
            if self.product is None:
                tokens = self._tokens(step, ids, entities, operators, self._starting(values, entities))  # E_in (T, q)
                pooled = mean_pool(self.paths(tokens, step.packing), step.packing)  # E_pq (P, q)
            else:
                walk = batch.walks[place]
                assert walk is not None
                if values is not None and domains is not None and self.variable == "expected":
                    values = values + self._ahead(walk, ids, domains)
                starts = self._starts(step, ids, values, entities)
                pooled = self._base(walk, ids, starts, entities, operators, domains)
                if len(long := step.packing.longer(1 + self.config.alone)):
                    tokens = self._tokens(step, ids, entities, operators, self._starting(values, entities))
                    heard = batch.at_roots[place] if self.config.adds == "roots" else None
                    pooled = self._joined(pooled, tokens, long, heard)
            bank.add(self.space.regularize(pooled))
        return bank.take(batch.roots)  # v_q (D, q)

    def _branches(self, step: Forks, bank: Bank) -> Tensor:
        """What meets in the forks of a step, the denied ones as their complements: (n_1 + n_2 + ..., q)."""
        values = bank.take(step.values)
        if self.complement is None or step.negated is None or step.order is None:
            return values
        denied = self.complement(values.index_select(0, step.negated))
        return take_once(torch.cat([values, denied]), step.order)

    def _starts(self, step: Paths, ids: Tensor, values: Tensor | None, entities: Reading) -> Tensor:
        """Where the base of each path begins: (P, q)."""
        starts = self._starting(values, entities)
        return entities.rows(ids.index_select(0, step.entity_sources)) if starts is None else starts

    def _starting(self, values: Tensor | None, entities: Reading) -> Tensor | None:
        """What variables of these values stand for at the start of a path: themselves, or the entities expected."""
        return values if values is None or self.variable == "vector" else self._expected(values, entities)

    def _ahead(self, walk: Walk, ids: Tensor, domains: Reading) -> Tensor:
        """What a variable is to have, by the relation that leaves it, beside its value: w_r / s (P, q)."""
        named, denied = ids.index_select(0, walk.first_sources), walk.first_negated
        if denied is None:
            return domains.rows(named).div(self.config.sharpness)
        rows = domains.rows(named.masked_fill(denied, 0)).div(self.config.sharpness)
        return rows.masked_fill(denied[:, None], 0.0)

    def _read(self, rows: Tensor, ahead: Tensor | None, entities: Reading) -> Tensor:
        """Rows between two relations as the entities that are expected there: (n, q) -> (n, q)."""
        return self._expected(rows if ahead is None else rows + ahead / self.config.sharpness, entities)

    def _expected(self, values: Tensor, entities: Reading) -> Tensor:
        """sum_e softmax(-s Dist(e, x)) v_e, s the sharpness: (n, q) -> (n, q)."""
        products, sharpness = self.space.products(values, entities.weight), self.config.sharpness
        if products is not None:
            return expected_rows(sharpness * products[0], products[1], entities.weight)
        distances = self.space.distance_to_all(values, entities.weight).float()
        return torch.softmax(-sharpness * distances, dim=1).to(values.dtype) @ entities.weight

    def _base(
        self,
        walk: Walk,
        ids: Tensor,
        starts: Tensor,
        entities: Reading,
        operators: Reading,
        domains: Reading | None,
    ) -> Tensor:
        """The product along each path: starts (P, q) -> (P, q)."""
        assert self.product is not None
        named = ids.index_select(0, walk.relation_sources)
        chain = operators.rows(named)
        expect = partial(self._read, entities=entities)
        ahead = domains.rows(named) if domains is not None and len(walk.hops) > 1 else None
        base: Tensor = self.product(walk, starts, chain, expect, ahead)
        return base

    def _joined(self, base: Tensor, tokens: Tensor, packing: Packing, heard: Tensor | None) -> Tensor:
        """The base of all paths and, to those that are long enough, what the encoder says: (P, q).

        heard (P,): the paths to which it adds; a fork that is trained on single links does not know what is added to
        longer branches.
        """
        count = len(packing)
        said = mean_pool(self.paths(tokens[: len(packing.positions)], packing), packing)
        if heard is not None:
            said = said * heard[:count, None]
        return torch.cat([base[:count] + said, base[count:]])

    def _tokens(self, step: Paths, ids: Tensor, entities: Reading, operators: Reading, values: Tensor | None) -> Tensor:
        """The start of each path, an anchor's row or a variable's value, and the rows of its operators: (T, q).

        Rows enter as they are, not regularized (silent): what is added to a whole row is lost in a LayerNorm.
        An entity that is a point among boxes has no second parameter: its token has the offset 0, as in Query2box.
        """
        anchors = ids.index_select(0, step.entity_sources)  # (A,)
        chain = ids.index_select(0, step.operator_sources).masked_fill(step.operator_negated, self.relation_count)
        dtype = operators.weight.dtype
        variables = None if values is None else (values, step.variable_places)
        if self.space.entity_width < self.space.query_width:
            starts = self.space.anchor(entities.rows(anchors)).to(dtype)
            rows = [starts, operators.rows(chain), *(() if variables is None else variables[:1])]
            return take_once(torch.cat(rows), step.order)
        parts = [(entities, anchors, step.entity_places), (operators, chain, step.operator_places)]
        return assemble(parts, variables, step.order, step.rows)


METHOD = Pathformer
