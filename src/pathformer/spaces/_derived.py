"""Spaces whose distance reads an entity only through features: angles of a row, moments of a distribution.

B queries, K candidates, N entities; e, f, q numbers of an entity, of its features, of a query.

Features cost more than the distance itself (digamma, tanh), and a training batch names every entity many times. So they
are made once of the whole table, and looked up as rows, if that is less work than for each candidate.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.table import Reading
from pathformer.spaces._base import Space

__all__ = ["Bilinear", "Derived"]


class Derived(Space):
    """A space with Dist(e, q) = distance_to_features(q, features(e)), in float32 whatever type the rows have."""

    @abstractmethod
    def features(self, entities: Tensor) -> Tensor:
        """Makes the features of rows of the entity table: (..., e) -> (..., f) float32."""

    @abstractmethod
    def distance_to_features(self, queries: Tensor, features: Tensor) -> Tensor:
        """Distances of queries (..., q) and features (..., f) that broadcast -> (...) float32."""

    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        """The distance to the features of these rows: (..., q) and (..., e) -> (...) float32."""
        return self.distance_to_features(queries, self.features(entities))

    def distance_to(self, queries: Tensor, entities: Reading, ids: Tensor) -> Tensor:
        """Distances to candidates; features are made of the whole table if it has fewer rows than are looked up."""
        if len(entities.weight) > ids.numel():
            return super().distance_to(queries, entities, ids)
        rows = Reading(self.features(entities.weight)).rows(ids.flatten())
        return self.distance_to_features(queries[:, None], rows.view(*ids.shape, -1))

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity: (B, q), (N, e) -> (B, N)."""
        features = self.features(entities)
        step = max(1, chunk // max(1, features.numel()))
        return torch.cat([self.distance_to_features(part[:, None], features) for part in queries.split(step)])


class Bilinear(Derived):
    """A space with Dist(e, q) = c(q) + <g(q), features(e)>: all distances of a batch are one matrix product.

    The Kullback-Leibler divergence of two distributions of an exponential family is of this form: the statistics' means
    and the entropy of the one, and the parameters of the other. It is the same sum in another order, not an estimate.
    """

    @abstractmethod
    def factors(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Makes g(q) and c(q): (..., q) -> (..., f), (...) float32."""

    def distance_to_features(self, queries: Tensor, features: Tensor) -> Tensor:
        """c(q) + <g(q), features>: (..., q) and (..., f) -> (...) float32."""
        factors, constants = self.factors(queries)
        return (factors * features).sum(dim=-1) + constants

    def distance_to(self, queries: Tensor, entities: Reading, ids: Tensor) -> Tensor:
        """Distances to candidates without a (B, K, f) tensor of products; the kernel makes none of rows either."""
        factors, constants = self.factors(queries)
        if entities.fused:
            from pathformer.spaces.kernels.pairs import pair_distance

            return pair_distance(factors, self.features(entities.weight), ids, "dot") + constants[:, None]
        if len(entities.weight) > ids.numel():
            rows = self.features(entities.rows(ids.flatten()))
        else:
            rows = Reading(self.features(entities.weight)).rows(ids.flatten())
        products = torch.bmm(rows.view(*ids.shape, -1), factors[:, :, None]).squeeze(-1)
        return products + constants[:, None]

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity, by one matrix product: (B, q), (N, e) -> (B, N)."""
        factors, constants = self.factors(queries)
        return F.linear(factors, self.features(entities)) + constants[:, None]

    def products(self, queries: Tensor, entities: Tensor) -> tuple[Tensor, Tensor] | None:
        """Returns -g(q) and features(e), whose product is c(q) - Dist."""
        return -self.factors(queries)[0], self.features(entities)
