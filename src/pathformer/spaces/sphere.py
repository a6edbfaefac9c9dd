"""Queries and entities as directions of R^d: only the angle between two rows counts.

    Dist(e, q) = s (1 - cos(v_e, v_q)),    s = 1 / temperature, learned or kept

With softmax over -Dist this is the cosine similarity at a temperature. This space is ours, not the paper's.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from pathformer.plan.measure import Measure
from pathformer.spaces._base import Space, unit

__all__ = ["SPACE", "Sphere"]


class Sphere(Space):
    """The space of directions: one vector of size d an entity, a relation, a query; lengths mean nothing."""

    def __init__(self, dim: int, margin: float, temperature: float = 0.05, learn_temperature: bool = True) -> None:
        super().__init__(dim, margin)
        if not temperature > 0.0:
            raise ValueError(f"temperature must be above 0, got {temperature}")
        self.entity_width = self.relation_width = self.query_width = dim
        self.log_scale = nn.Parameter(torch.tensor(-math.log(temperature)), requires_grad=learn_temperature)  # log s

    @property
    def measure(self) -> Measure:
        """The cosine, with the scale of now."""
        return Measure("cosine", scale=float(self.log_scale.detach().float().exp()))

    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        """s (1 - cos). (..., d) and (..., d) -> (...) float32."""
        cosine = (unit(queries) * unit(entities)).sum(dim=-1)
        return self.log_scale.float().exp() * (1.0 - cosine)

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity, by one matrix product: (B, d), (N, d) -> (B, N)."""
        return self.log_scale.float().exp() * (1.0 - unit(queries) @ unit(entities).t())

    def products(self, queries: Tensor, entities: Tensor) -> tuple[Tensor, Tensor] | None:
        """Returns s v_q / |v_q| and v_e / |v_e|, whose product is s - Dist."""
        left = self.log_scale.float().exp() * unit(queries)
        return left.to(queries.dtype), unit(entities).to(entities.dtype)


SPACE = Sphere
