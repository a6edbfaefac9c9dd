"""Queries as axis-parallel boxes, entities as points (Query2box, Ren et al. 2020, as BetaE's code has it).

d embedding size, F forks.

A query is its centre c, then its offset o, half the side in every dimension. With D = |v_e - c|:

    Dist(e, q) = |relu(D - o)|_1 + 0.02 |min(D, o)|_1        the way to the box, and a little of the way inside it
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pathformer.nn.backend import is_fused
from pathformer.nn.combine import BranchAttention, mean_branch, mix_branches, smallest_branch
from pathformer.nn.mlp import MLP
from pathformer.nn.table import Reading, Table
from pathformer.spaces._base import Space

__all__ = ["INSIDE", "SPACE", "Box", "BoxIntersection"]

INSIDE = 0.02  # weight of the way inside the box


class Box(Space):
    """The space of boxes: centre and offset, each of size d, of a query and of a relation; an entity is d numbers."""

    parts = 2

    def __init__(self, dim: int, margin: float) -> None:
        super().__init__(dim, margin)
        self.entity_width = dim
        self.relation_width = self.query_width = 2 * dim

    @property
    def beside_margin(self) -> tuple[float, ...]:
        """The deviation gamma / d, and a tenth of it for offsets: entities inside a box have almost no distance."""
        return self.margin / self.dim, 0.1 * self.margin / self.dim

    def relation_table(self, count: int) -> Table:
        """A table of `count` relations: centres uniform +-R, offsets uniform 0 .. R."""
        table = super().relation_table(count)
        with torch.no_grad():
            table.weight[:, self.dim :].abs_()
        return table

    def operator_table(self, count: int) -> Table:
        """A table of `count` operators, with the initial values of `relation_table`."""
        return self.relation_table(count)

    def anchor(self, entities: Tensor) -> Tensor:
        """Makes boxes of offset 0: (..., d) -> (..., 2d) float32."""
        entities = entities.float()
        return torch.cat([entities, torch.zeros_like(entities)], dim=-1)

    def regularize(self, queries: Tensor) -> Tensor:
        """Keeps the centre, and takes the offset without its sign: (..., 2d) -> (..., 2d).

        Pathformer + Box needs it: the paper asks for a valid offset and does not say how. With ReLU an offset that is
        cut off would get no gradient any more.
        """
        centre, offset = queries.chunk(2, dim=-1)
        return torch.cat([centre, offset.abs()], dim=-1)

    def intersection(self) -> nn.Module:
        """Makes Query2box's intersection."""
        return BoxIntersection(self.dim)

    def distance(self, queries: Tensor, entities: Tensor) -> Tensor:
        """The equation above: (..., 2d) and (..., d) -> (...) float32."""
        centre, offset = queries.float().chunk(2, dim=-1)
        away = (entities.float() - centre).abs()  # D
        return ((away - offset).relu() + INSIDE * torch.minimum(away, offset).abs()).sum(dim=-1)

    def distance_to(self, queries: Tensor, entities: Reading, ids: Tensor) -> Tensor:
        """Distances to candidates; the kernel keeps no (B, K, d) rows."""
        if entities.fused:
            from pathformer.spaces.kernels.pairs import pair_distance

            return pair_distance(queries.float(), entities.weight, ids, "box")
        return super().distance_to(queries, entities, ids)

    def distance_to_all(self, queries: Tensor, entities: Tensor, chunk: int = 1 << 26) -> Tensor:
        """Distances to every entity, by kernels that make no (B, N, d) tensor; the processor's gives no gradient."""
        if is_fused(entities):
            from pathformer.spaces.kernels.pairs import every_distance

            return every_distance(queries.float(), entities, "box")
        if entities.is_cuda or (torch.is_grad_enabled() and (queries.requires_grad or entities.requires_grad)):
            return super().distance_to_all(queries, entities, chunk)
        from pathformer.spaces.kernels.pairs_numba import box_distances

        return box_distances(queries, entities)


class BoxIntersection(nn.Module):
    """Centre: attention over the centres. Offset: min_i o_i * s(V_2 mean_i relu(V_1 o_i)), so no larger than any."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.attention = BranchAttention(dim, dim, dim)
        self.each = MLP(dim, dim, xavier=True)  # V_1
        self.all = MLP(dim, dim, xavier=True)  # V_2

    def forward(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, 2d), (n_2, 2d), ... -> (F, 2d)."""
        centres, offsets = zip(*(branch.chunk(2, dim=-1) for branch in branches), strict=True)
        shrink = self.all(mean_branch([self.each(offset).relu() for offset in offsets])).float().sigmoid()
        centre = mix_branches(self.attention(centres), centres)
        return torch.cat([centre, smallest_branch(offsets) * shrink], dim=-1)


SPACE = Box
