"""Queries as sets of P vectors, the particles; an entity is one vector and a bias (Bai et al. 2022, Query2Particles).

    Score(e, q) = max_p <p, x_e> + b_e        Dist(e, q) = -Score(e, q)

A distance may be below zero: only the order of entities counts. Rows: a query's particles one after
the other (P d), an entity's vector and then its bias (d + 1).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from pathformer.nn.table import Reading, Table
from pathformer.spaces._base import Space

__all__ = ["SPACE", "Particles"]


class Particles(Space):
    """The space of particle sets: P particles of size d a query; tables start normal with deviation `spread`."""

    def __init__(self, dim: int, particles: int = 2, spread: float = 1.0) -> None:
        super().__init__(dim, margin=0.0)  # only the margin objective reads it, which Q2P does not use
        self.particles, self.spread, self.parts = particles, spread, particles
        self.entity_width, self.relation_width, self.query_width = dim + 1, dim, particles * dim
        self.offsets = nn.Parameter(torch.zeros(particles, dim))

    @classmethod
    def for_queries(cls, dim: int, margin: float, **settings: Any) -> Particles:
        """A space of particles of this size; it has no margin."""
        return cls(dim, **settings)

    def entity_table(self, count: int) -> Table:
        """A table of `count` entities; biases 0, so that none is preferred at first."""
        table = Table(count, self.entity_width, 0.0, 1.0)
        with torch.no_grad():
            table.weight.normal_(0.0, self.spread)
            table.weight[:, self.dim] = 0.0
        return table

    def relation_table(self, count: int) -> Table:
        """A table of `count` relations."""
        table = Table(count, self.relation_width, 0.0, 1.0)
        nn.init.normal_(table.weight, 0.0, self.spread)
        return table

    def anchor(self, entities: Tensor) -> Tensor:
        """x_e + o_p for each of P learnt offsets, 0 at first: (..., d + 1) -> (..., P d)."""
        return (entities[..., None, : self.dim] + self.offsets).flatten(-2)

    def split(self, queries: Tensor) -> Tensor:
        """Splits rows of queries into their particles: (..., P d) -> (..., P, d)."""
        return queries.reshape(*queries.shape[:-1], self.particles, self.dim)

    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        """-(max_p <p, x_e> + b_e): (..., P d) and (..., d + 1) -> (...) float32."""
        scores = (self.split(queries) * entities[..., None, : self.dim]).float().sum(dim=-1)  # (..., P)
        return -scores.max(dim=-1).values - entities[..., self.dim].float()

    def distance_to(self, queries: Tensor, entities: Reading, ids: Tensor) -> Tensor:
        """Distances to candidates, by one matrix product a query: (B, P d), (B, K) -> (B, K)."""
        rows = entities.rows(ids.flatten()).view(*ids.shape, -1)  # (B, K, d + 1)
        scores = torch.bmm(rows[..., : self.dim], self.split(queries).transpose(1, 2)).float()  # (B, K, P)
        return -scores.max(dim=-1).values - rows[..., self.dim].float()

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity, by one matrix product: (B, P d), (N, d + 1) -> (B, N)."""
        vectors = entities[:, : self.dim].contiguous()  # a row of d numbers can be read in whole words, d + 1 cannot
        scores = self.split(queries).flatten(0, 1) @ vectors.t()  # (B P, N)
        best = scores.view(len(queries), self.particles, -1).max(dim=1).values
        return -best.float() - entities[:, self.dim].float()


SPACE = Particles
