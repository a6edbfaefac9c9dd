"""Composed: paths made by a link predictor, hop by hop, to which a transformer adds; not the paper's.

P paths, T tokens, d numbers of a query (d / 2 real, then d / 2 imaginary parts), F forks, D disjuncts, I ids.

    path     x <- x r                 a relation, complex number by complex number: a single link scores as by ComplEx
             x <- c x                 [Negation]; c learned, below 0 at first
    between  x <- sum_e p(e) v_e      before each further relation r,  p = softmax(-s Dist(e, x) + <w_r, v_e>)
    answer   E_pq = x + MP(TrmE(E_in))                to paths of more than `bare_path_length` operators
    fork     E_v = sum_i exp(w(x_i)) x_i              and what a network adds, by setting

w_r is the domain of a relation, the kind of entity that it starts from; s is the sharpness. A variable starts its next
path as the entity that is expected there. The tables start as those of a trained `complex` and are kept as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from pathformer.config import check_range
from pathformer.models._base import Model, ParameterGroup
from pathformer.models._batch import Bank, Batch, Forks, Paths
from pathformer.models._path_walk import Walk, follow
from pathformer.nn.combine import Complement, SumFold, WeighedFold
from pathformer.nn.packing import mean_pool
from pathformer.nn.table import Reading, Table, take_once
from pathformer.nn.transformer import TransformerEncoder
from pathformer.spaces.hermitian import Hermitian, multiply

__all__ = ["METHOD", "Composed", "Config"]

_SMALL = 0.01  # initial gain of the last LayerNorm: at first the encoder adds almost nothing to a product
_NEGATION = -0.5  # c at first


@dataclass(frozen=True, kw_only=True)
class Config:
    """The settings; all are ours, and the defaults are those of the recipe `fast`."""

    dim: int = 2000  # d, twice the rank of the link predictor
    layers: int = 1
    heads: int = 8
    hidden: int = 4  # size of the encoder's hidden layer / d
    dropout: float = 0.1  # of the encoder, as in `pathformer`
    bare_path_length: int = 1  # paths of so many operators at most are their product alone
    add_to: Literal["paths", "answers"] = "answers"  # the encoder adds to all paths, or not to branches of forks
    sharpness: float = 1.6  # s; above 1 unlikely entities count less
    domains: bool = True  # whether the entity before a relation is expected to have that relation, by w_r
    fork: Literal["sum", "network"] = "sum"  # a weighed sum of branches, or a network added to that sum
    fork_dropout: float = 0.0  # of the branches that the network reads
    deny_in: Literal["path", "fork"] = "path"  # [Negation] multiplies a path by c, or the fork takes a complement

    def __post_init__(self) -> None:
        check_range(self, "dim", "layers", "heads", "hidden", least=1)
        check_range(self, "dropout", "fork_dropout", least=0, below=1)
        check_range(self, "bare_path_length", least=0)
        check_range(self, "sharpness", above=0)
        if self.dim % 2:
            raise ValueError(f"dim must be even, since complex numbers have two parts, got {self.dim}")
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} does not divide into {self.heads} heads: choose heads that divide dim")


class Composed(Model):
    """Two tables as a link predictor has them, domains of relations, a path encoder and a fork network."""

    name: ClassVar[str] = "composed"
    config_type: ClassVar[type[Config]] = Config
    objective: ClassVar[str] = "softmax"

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        d = config.dim
        self.space: Hermitian = Hermitian(d // 2)
        self.entities = self.space.entity_table(entities)
        self.operators = self.space.operator_table(relations + 1)  # the last row is the token [Negation]
        self.paths = TransformerEncoder(
            d, config.layers, config.heads, config.hidden * d, dropout=config.dropout, scale=False, gain=_SMALL
        )
        self.forks = WeighedFold(d) if config.fork == "sum" else SumFold(d, config.fork_dropout)
        self.negation_factor = nn.Parameter(torch.tensor([_NEGATION]))  # c
        self.domains = Table(relations, d, 0.0, 0.0) if config.domains else None  # w_r; at first any entity will do
        self.complement = Complement(d) if config.deny_in == "fork" else None

    def link_tables(self) -> dict[str, Table]:
        """The tables that can start as those of a link predictor."""
        return {"entities": self.entities, "relations": self.operators}

    def parameter_groups(self) -> dict[str, ParameterGroup]:
        """The group of each parameter: domains are learned here, the two other tables by the link predictor."""
        return {**super().parameter_groups(), **({"domains.weight": "domain"} if self.domains else {})}

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        """Encodes level by level, paths from anchors, forks, paths from variables, ...: (I,) -> (D, d)."""
        operators, bank = self.operators.read(), Bank()
        domains = None if self.domains is None else self.domains.read()
        batch = batch if self.complement is None else batch.lifted
        for number, step in enumerate(batch.steps):
            if isinstance(step, Forks):
                bank.add(self.forks(self._branches(step, bank).split(step.sizes)))  # E_v (F, d)
                continue
            walk = batch.walks[number]
            assert walk is not None
            values = self._variables(step, walk, ids, domains, operators, bank)  # (P, d)
            paths = self._product(step, walk, ids, values, entities, operators, domains)  # (P, d)
            long = step.packing.longer(1 + self.config.bare_path_length)
            if len(long):
                tokens = step.tokens(ids, entities, operators, self._expect(values, entities))  # E_in (T, d)
                added = mean_pool(self.paths(tokens[: len(long.positions)], long), long)  # the longest stand first
                if self.config.add_to == "answers":
                    added = added * batch.at_roots[number][: len(long), None]
                paths = torch.cat([paths[: len(long)] + added, paths[len(long) :]])  # E_pq
            bank.add(paths)
        return bank.take(batch.roots)  # v_q (D, d)

    def _branches(self, step: Forks, bank: Bank) -> Tensor:
        """The branches of a step's forks, denied ones as their complements: (n_1 + n_2 + ..., d)."""
        values = bank.take(step.values)
        if self.complement is None or step.negated is None or step.order is None:
            return values
        denied = self.complement(values.index_select(0, step.negated))
        return take_once(torch.cat([values, denied]), step.order)

    def _variables(
        self, step: Paths, walk: Walk, ids: Tensor, domains: Reading | None, operators: Reading, bank: Bank
    ) -> Tensor | None:
        """E_v of the variables that start this step's paths, moved towards the domain of the relation that follows.

        Returns (P, d), or None where anchors start the paths.
        """
        if not len(step.variable_values):
            return None
        values = bank.take(step.variable_values).to(operators.weight.dtype)
        if domains is None:
            return values
        named, negated = ids.index_select(0, walk.first_sources), walk.first_negated
        if negated is None:
            return values + domains.rows(named).div(self.config.sharpness)
        rows = domains.rows(named.masked_fill(negated, 0)).div(self.config.sharpness)
        return values + rows.masked_fill(negated[:, None], 0.0)

    def _expect(self, values: Tensor | None, entities: Reading) -> Tensor | None:
        """The entities that are expected at values: (n, d) -> (n, d)."""
        if values is None:
            return None
        return self.space.expected_entities(values, entities.weight, self.config.sharpness)

    def _product(
        self,
        step: Paths,
        walk: Walk,
        ids: Tensor,
        values: Tensor | None,
        entities: Reading,
        operators: Reading,
        domains: Reading | None,
    ) -> Tensor:
        """The product along each path, an expected entity before each further relation: (P, d)."""
        starts = self._expect(values, entities)
        if starts is None:
            starts = entities.rows(ids.index_select(0, step.entity_sources))
        d, sharpness = self.config.dim, self.config.sharpness
        relations = ids.index_select(0, walk.relation_sources)
        rows = operators.rows(relations)
        if domains is not None and len(walk.hops) > 1:
            rows = torch.cat([rows, domains.rows(relations)], dim=1)  # r, then w_r

        def first(x: Tensor, relation: Tensor) -> Tensor:
            return multiply(x, relation[:, :d])

        def further(x: Tensor, relation: Tensor) -> Tensor:
            expected_by = x if domains is None else x + relation[:, d:] / sharpness
            return first(self.space.expected_entities(expected_by, entities.weight, sharpness), relation)

        def negate(x: Tensor) -> Tensor:
            return x * self.negation_factor

        paths = follow(walk, starts, rows, (first, negate), (further, negate))
        moved = walk.hops[0].count if walk.hops else 0
        if values is None or moved == len(paths):
            return paths
        return torch.cat([paths[:moved], values[moved:]])  # a path without operators is its variable


METHOD = Composed
