"""A space: the widths of its rows, their initial values, and how far an entity is from a query.

B queries, K candidates, N entities; e, r, q numbers of an entity, a relation, a query; d of one part of a query.

A point, a box and a Beta distribution are all kept as one row of numbers (a box: centre, then offset), so batches,
indexes and checkpoints never ask what a space is. Models decide how a query moves through a space. The space decides
the distance, which parameters are valid and, where its geometry says so, how queries intersect.

A space is one file of this folder, or of a plugin's folder `spaces`, that ends in `SPACE = TheClass`.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer import plugins
from pathformer.errors import PluginError
from pathformer.nn.cross_entropy import expected_rows
from pathformer.nn.table import Reading, Table
from pathformer.plan.measure import Measure
from pathformer.text import closest

__all__ = ["Space", "build", "find", "unit"]

_GROUP = "spaces"


class Space(nn.Module, ABC):
    """A space of embedding size d with margin gamma."""

    entity_width: int  # e
    relation_width: int  # r
    query_width: int  # q
    parts: int = 1  # of a query, d numbers each: a point has one, a box two (centre, offset)

    def __init__(self, dim: int, margin: float) -> None:
        super().__init__()
        self.dim, self.margin = dim, margin

    @classmethod
    def for_queries(cls, dim: int, margin: float, **settings: Any) -> Space:
        """A space in which each part of a query has `dim` numbers; `settings` are the space's own."""
        return cls(dim, margin, **settings)

    @property
    def range(self) -> float:
        """R = (gamma + 2) / d, the initial range of the reference code."""
        return (self.margin + 2.0) / self.dim

    @property
    def beside_margin(self) -> tuple[float, ...]:
        """The deviation of each part of a query that puts first distances beside the margin: gamma / d under L1."""
        return (self.margin * self.parts / self.query_width,) * self.parts

    @property
    def measure(self) -> Measure | None:
        """The measure between `measured_queries` and `measured_entities`; None where only `distance` gives it."""
        return None

    def measured_entities(self, entities: Tensor) -> Tensor:
        """The rows that `measure` compares with those of queries: (..., e) -> (..., f)."""
        return entities

    def measured_queries(self, queries: Tensor) -> Tensor:
        """The rows that `measure` compares with those of entities: (..., q) -> (..., f)."""
        return queries

    @property
    def has_intersection(self) -> bool:
        """Whether this space brings its own intersection."""
        return type(self).intersection is not Space.intersection

    def entity_table(self, count: int) -> Table:
        """A table of `count` entities, uniform +-R; the paper is silent, BetaE's and ConE's code do this."""
        return Table(count, self.entity_width, -self.range, self.range)

    def relation_table(self, count: int) -> Table:
        """A table of `count` relations, uniform +-R."""
        return Table(count, self.relation_width, -self.range, self.range)

    def operator_table(self, count: int) -> Table:
        """A table of `count` operators as wide as a query, for methods that read operators as tokens; uniform +-R."""
        return Table(count, self.query_width, -self.range, self.range)

    def anchor(self, entities: Tensor) -> Tensor:
        """Turns rows of the entity table into queries that hold one entity: (..., e) -> (..., q)."""
        return entities

    def regularize(self, queries: Tensor) -> Tensor:
        """Returns the nearest valid query parameters (offsets >= 0, alpha > 0, ...); a point needs none."""
        return queries

    def intersection(self) -> nn.Module | None:
        """Makes a network that intersects queries, branches as in `nn.combine`; None where a method brings its own."""
        return None

    @abstractmethod
    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        """Dist(e, q) for broadcastable queries (..., q) and entity rows (..., e) -> (...)."""

    def distance_to(self, queries: Tensor, entities: Reading, ids: Tensor) -> Tensor:
        """Distances to each query's own candidates: queries (B, q), ids (B, K) -> (B, K)."""
        rows = entities.rows(ids.flatten()).view(*ids.shape, -1)
        return self.distance(queries[:, None], rows)

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity: queries (B, q), entities (N, e) -> (B, N); at most `chunk` numbers at once."""
        step = max(1, chunk // max(1, entities.numel()))
        return torch.cat([self.distance(part[:, None], entities) for part in queries.split(step)])

    def products(self, queries: Tensor, entities: Tensor) -> tuple[Tensor, Tensor] | None:
        """Factors (B, k), (N, k) whose inner products are minus the distances, up to a constant a query; or None."""
        return None

    def expected_entities(self, queries: Tensor, entities: Tensor, sharpness: float = 1.0) -> Tensor:
        """The mean of all rows, each by its probability: sum_e softmax(-s Dist(e, q)) v_e.

        queries (n, q), entities (N, e) -> (n, e); s is the sharpness.
        """
        products = self.products(queries, entities)
        if products is not None:
            return expected_rows(sharpness * products[0], products[1], entities)
        distances = self.distance_to_all(queries, entities).float()
        return torch.softmax(-sharpness * distances, dim=1).to(queries.dtype) @ entities

    def can_copy_rows(self, source: Space) -> bool:
        """Whether rows of `source` mean the same here, number by number, as long as they are as wide."""
        return False


def find(name: str) -> type[Space]:
    """Finds the class of a space by its file's name."""
    module = plugins.load(_GROUP, name)
    space = getattr(module, "SPACE", None)
    if not (isinstance(space, type) and issubclass(space, Space)):
        raise PluginError(f"space {name!r} ({module.__file__}): expected SPACE = the class of a Space, found {space!r}")
    return space


def build(name: str, dim: int, margin: float, settings: Mapping[str, Any]) -> Space:
    """Makes a space by name, for queries of `dim` numbers a part; raises ValueError for a setting it does not have."""
    space = find(name)
    known = [each for each in inspect.signature(space.__init__).parameters if each not in ("self", "dim", "margin")]
    for setting in settings:
        if setting not in known:
            near = closest(setting, known, count=1) or known
            hint = f"it has: {', '.join(near)}" if near else "it has none"
            raise ValueError(f"space {name!r} has no setting {setting!r}; {hint}")
    return space.for_queries(dim, margin, **settings)


def unit(rows: Tensor) -> Tensor:
    """v / |v|: (..., d) -> (..., d) float32."""
    return F.normalize(rows.float(), dim=-1)
