"""What every space gives: the width of its rows, their initial values, and a distance.

B queries, K candidates, N entities; e, r, q numbers of an entity, a relation, a query.

A point, a box, a Beta distribution are all kept as one row of numbers (a box: centre, then offset), so batching,
indexing and checkpoints never ask what a space is. How queries move in it belongs to the models; what a space alone
decides is how far an entity is from a query, which parameters are valid and, where its geometry says so, how queries
meet.

Directions: the spaces in which only the angle between two rows counts read them so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.table import Reading, Table
from pathformer.plan.measure import Measure

__all__ = ["Space", "unit"]


class Space(nn.Module, ABC):
    """A space of embedding size d with margin gamma. A space without weights of its own has no state to save."""

    entity_width: int  # e
    relation_width: int  # r
    query_width: int  # q
    parts: ClassVar[int] = 1  # of a query, each d numbers: a point has one, a box two (centre, offset)

    def __init__(self, dim: int, margin: float) -> None:
        super().__init__()
        self.dim, self.margin = dim, margin

    @property
    def range(self) -> float:
        """R = (gamma + 2) / d, the initial range of the reference code."""
        return (self.margin + 2.0) / self.dim

    @property
    def beside_margin(self) -> tuple[float, ...]:
        """How far each part of a query may deviate, for first distances beside the margin: gamma / d under L1."""
        return (self.margin * self.parts / self.query_width,) * self.parts

    @property
    def measure(self) -> Measure | None:
        """How `measured_queries` and `measured_entities` give the distance; None where only `distance` does."""
        return None

    def measured_entities(self, entities: Tensor) -> Tensor:
        """The rows that `measure` compares with those of queries: (..., e) -> (..., f)."""
        return entities

    def measured_queries(self, queries: Tensor) -> Tensor:
        """The rows that `measure` compares with those of entities: (..., q) -> (..., f)."""
        return queries

    def entity_table(self, count: int) -> Table:
        """`count` entities, uniform +-R; the paper is silent, BetaE's and ConE's code do this."""
        return Table(count, self.entity_width, -self.range, self.range)

    def relation_table(self, count: int) -> Table:
        """`count` relations, uniform +-R."""
        return Table(count, self.relation_width, -self.range, self.range)

    def operator_table(self, count: int) -> Table:
        """`count` operators as wide as a query, for methods that read them as tokens beside it; uniform +-R."""
        return Table(count, self.query_width, -self.range, self.range)

    def anchor(self, entities: Tensor) -> Tensor:
        """Rows of the entity table as queries that hold one entity: (..., e) -> (..., q); a point is its own."""
        return entities

    def regularize(self, queries: Tensor) -> Tensor:
        """The nearest valid query parameters (offsets >= 0, alpha > 0, ...); a point needs none."""
        return queries

    def intersection(self) -> nn.Module | None:
        """A new network that intersects queries, branches as in `nn.fold`; None where a method brings its own."""
        return None

    @abstractmethod
    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        """Dist(e, q) for broadcastable queries (..., q) and entity rows (..., e) -> (...)."""

    def distance_to(self, queries: Tensor, entities: Reading, ids: Tensor) -> Tensor:
        """Distances to each query's own candidates. queries (B, q), ids (B, K) -> (B, K)."""
        rows = entities.rows(ids.flatten()).view(*ids.shape, -1)
        return self.distance(queries[:, None], rows)

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity. queries (B, q), entities (N, e) -> (B, N); at most `chunk` numbers at once."""
        step = max(1, chunk // max(1, entities.numel()))
        return torch.cat([self.distance(part[:, None], entities) for part in queries.split(step)])

    def products(self, queries: Tensor, entities: Tensor) -> tuple[Tensor, Tensor] | None:
        """Factors (B, k), (N, k) whose inner products are minus the distances, up to a constant a query; or None."""
        return None


def unit(rows: Tensor) -> Tensor:
    """v / |v|: (..., d) -> (..., d) float32."""
    return F.normalize(rows.float(), dim=-1)
