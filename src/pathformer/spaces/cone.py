"""Queries as sector cones, one a dimension, entities as directions (ConE, Zhang et al. 2021).

d embedding size, F forks; angles in radians.

A query is its axis t in (-pi, pi], then its half aperture s in [0, pi]. An entity's row v is an axis ax(v / R) of
aperture 0:

    ax(x) = pi tanh(x)         ap(x) = pi/2 tanh(2x) + pi/2         R = (gamma + 2) / d

In every dimension, with near = |sin((t_e - t) / 2)| and rim = |sin(s / 2)|:

    out = 0 if near < rim, else min(|sin((t_e - t + s) / 2)|, |sin((t_e - t - s) / 2)|)        in = min(near, rim)
    Dist(e, q) = m (sum out + 0.02 sum in),    m learned; where it starts is a setting of `Cone`
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.backend import is_fused
from pathformer.nn.combine import BranchAttention, mean_branch, mix_branches, smallest_branch
from pathformer.nn.mlp import MLP
from pathformer.nn.table import Reading
from pathformer.spaces._derived import Derived

__all__ = ["INSIDE", "SPACE", "Cone", "ConeIntersection", "StartName", "aperture", "axis"]

StartName = Literal["margin", "reference"]

INSIDE = 0.02  # weight of the way inside the cone
_FIRST = 0.38  # first distance a dimension between entities and queries, as measured
_LEAST = 1e-3  # smallest |x|: the angle of (0, 0) has no gradient


def axis(values: Tensor) -> Tensor:
    """ax(x) = pi tanh(x), an angle; in float32."""
    return math.pi * torch.tanh(values.float())


def aperture(values: Tensor) -> Tensor:
    """ap(x) = pi/2 tanh(2x) + pi/2, a half aperture; in float32."""
    return math.pi / 2 * torch.tanh(2.0 * values.float()) + math.pi / 2


class Cone(Derived):
    """The space of cones: axis and half aperture, each of size d, of a query and of a relation; an entity is d numbers.

    start: the source has m = R / 2, with which the first distances are a fifth of the margin. Until m has grown, every
    update pulls every query away from every entity: apertures close until ap no longer has a gradient. "margin" starts
    m so that the first distances lie at the margin.
    """

    parts = 2

    def __init__(self, dim: int, margin: float, dropout: float = 0.0, start: StartName = "margin") -> None:
        """dropout: rate at which an intersection drops apertures."""
        super().__init__(dim, margin)
        self.dropout = dropout
        self.entity_width = dim
        self.relation_width = self.query_width = 2 * dim
        first = margin / (_FIRST * dim) if start == "margin" else self.range / 2
        self.scale = nn.Parameter(torch.tensor(first))  # m

    def anchor(self, entities: Tensor) -> Tensor:
        """Makes cones of aperture 0: (..., d) -> (..., 2d)."""
        angle = self.features(entities)
        return torch.cat([angle, torch.zeros_like(angle)], dim=-1)

    def regularize(self, queries: Tensor) -> Tensor:
        """Takes ax of the first half, ap of the second: (..., 2d) -> (..., 2d)."""
        first, second = queries.chunk(2, dim=-1)
        return torch.cat([axis(first), aperture(second)], dim=-1)

    def intersection(self) -> nn.Module:
        """Makes ConE's intersection."""
        return ConeIntersection(self.dim, self.dropout)

    def features(self, entities: Tensor) -> Tensor:
        """The axis t_e of each row: (..., d) -> (..., d)."""
        return axis(entities.float() / self.range)

    def distance_to_features(self, queries: Tensor, features: Tensor) -> Tensor:
        """The equations above: (..., 2d) and (..., d) -> (...)."""
        middle, half = queries.float().chunk(2, dim=-1)
        turn = (features - middle) / 2
        near, rim = turn.sin().abs(), (half / 2).sin().abs()
        edge = torch.minimum((turn + half / 2).sin().abs(), (turn - half / 2).sin().abs())
        out = torch.where(near < rim, 0.0, edge)
        return self.scale.float() * (out + INSIDE * torch.minimum(near, rim)).sum(dim=-1)

    def distance_to(self, queries: Tensor, entities: Reading, ids: Tensor) -> Tensor:
        """Distances to candidates; the kernel keeps no (B, K, d) rows."""
        if entities.fused:
            from pathformer.spaces.kernels.pairs import pair_distance

            return self.scale.float() * pair_distance(queries.float(), self.features(entities.weight), ids, "cone")
        return super().distance_to(queries, entities, ids)

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity, by kernels that make no (B, N, d) tensor; the processor's gives no gradient."""
        angles, scale = self.features(entities), self.scale.float()
        if is_fused(entities):
            from pathformer.spaces.kernels.pairs import every_distance

            return scale * every_distance(queries.float(), angles, "cone")
        if entities.is_cuda or torch.is_grad_enabled():
            return super().distance_to_all(queries, entities, chunk)
        from pathformer.spaces.kernels.pairs_numba import cone_distances

        return scale * cone_distances(queries, angles)


class ConeIntersection(nn.Module):
    """From f_i = [t_i - s_i; t_i + s_i]: the axis a weighted mean of directions, the aperture no larger than any.

    t = angle of (sum a_i cos t_i, sum a_i sin t_i), a_i = softmax_i(W_2 relu(W_1 f_i))
    s = min_i drop(s_i) * sg(V_2 mean_i relu(V_1 f_i))
    """

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.attention = BranchAttention(2 * dim, dim, dim)  # W_1, W_2
        self.each = MLP(2 * dim, dim, xavier=True)  # V_1; its width is silent, W_1's is taken
        self.all = MLP(dim, dim, xavier=True)  # V_2

    def forward(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, 2d), (n_2, 2d), ... -> (F, 2d)."""
        axes, halves = zip(*(branch.chunk(2, dim=-1) for branch in branches), strict=True)
        features = [torch.cat([t - s, t + s], dim=-1) for t, s in zip(axes, halves, strict=True)]
        weights = self.attention(features)
        x, y = (mix_branches(weights, [part(angle) for angle in axes]) for part in (torch.cos, torch.sin))
        x = torch.where(x.abs() < _LEAST, _LEAST, x)
        dropped = [F.dropout(half, self.dropout, self.training) for half in halves]
        shrink = self.all(mean_branch([self.each(feature).relu() for feature in features])).float().sigmoid()
        return torch.cat([torch.atan2(y, x), smallest_branch(dropped) * shrink], dim=-1)


SPACE = Cone
