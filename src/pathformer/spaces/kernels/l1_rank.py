"""Exact L1 distances to all entities, and counting for ranks, on the device of the tensors.

R points, N entities, D dimensions, Q rows, A thresholds.

A distance is the float32 sum over k = 0 .. D-1, added in that order. Float32 addition is not associative, so an order
has to be named for ranks to be the same everywhere; with this one the processor, the card and the readable twin
(`l1_distances_plain`) give equal bits, and entities with equal rows are exact ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import torch
from torch import Tensor

__all__ = ["L1Table", "count_below", "l1_distances_plain"]


@dataclass(frozen=True, eq=False, slots=True)
class L1Table:
    """A copy of an entity table, laid out for distances to all entities."""

    layout: Tensor
    count: int  # N

    @classmethod
    def of(cls, table: Tensor) -> L1Table:
        """Lays out a table (N, D)."""
        return cls(_kernels(table).lay_out(table.detach()), len(table))

    def distances(self, points: Tensor) -> Tensor:
        """|p - e|_1 of points (R, D) and every entity: (R, N)."""
        found: Tensor = _kernels(points).l1_distances(points.detach().float(), self.layout, self.count)
        return found


def l1_distances_plain(points: Tensor, table: Tensor) -> Tensor:
    """The readable twin of `L1Table.distances`: points (R, D), table (N, D) -> (R, N)."""
    total = torch.zeros(len(points), len(table), device=points.device)
    for p, e in zip(points.float().t(), table.float().t(), strict=True):
        total += (p[:, None] - e[None, :]).abs()
    return total


def count_below(distances: Tensor, rows: Tensor, thresholds: Tensor) -> tuple[Tensor, Tensor]:
    """Counts the entries of a row that lie below a threshold, and those equal to it; NaN entries are neither.

    distances (Q, N); rows (A,) ascending row of each threshold; thresholds (A,); returns two int32 (A,).
    """
    found: tuple[Tensor, Tensor] = _kernels(distances).count_below(distances, rows, thresholds)
    return found


def _kernels(tensor: Tensor) -> ModuleType:
    """Imports the kernels for a tensor's device, on first use, since each needs its own compiler."""
    if tensor.is_cuda:
        from pathformer.spaces.kernels import rank_triton

        return rank_triton
    from pathformer.spaces.kernels import rank_numba

    return rank_numba
