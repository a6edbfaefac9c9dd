"""Draws a member and non-members of sorted sets, without rejection.

B sets of a CSR, u draws of non-members each, N elements in all.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pathformer.nn.backend import is_fused

__all__ = ["draw_candidates"]


def draw_candidates(
    chance: Tensor, sets: Tensor, bounds: Tensor, members: Tensor, total: int, filtered: bool
) -> tuple[Tensor, Tensor]:
    """Draws one member of each set, then u elements of 0 .. total - 1 outside it (anywhere if not `filtered`).

    chance (B, 1 + u) int64, large random numbers; sets (B,) numbers of sets in the CSR bounds, members (ascending in a
    set). Returns (B, 1 + u) int32, and the size of each set (B,) int64. A set that holds everything has no outside:
    its draws are elements of it.
    """
    if is_fused(chance):
        from pathformer.nn.kernels.draw_candidates import draw_candidates as kernel

        return kernel(chance, sets, bounds, members, total, filtered)
    first = bounds.index_select(0, sets)
    sizes = bounds.index_select(0, sets + 1) - first
    inside = members.index_select(0, first + chance[:, 0] % sizes)
    outside = _outside(chance[:, 1:], first, sizes, members, total) if filtered else chance[:, 1:] % total
    return torch.cat([inside[:, None], outside.to(torch.int32)], dim=1), sizes


def _outside(chance: Tensor, first: Tensor, sizes: Tensor, members: Tensor, total: int) -> Tensor:
    """The r-th element outside a set is r + j, for the smallest j with members[j] - j > r: found by halving."""
    rank = chance % (total - sizes).clamp(min=1)[:, None]  # r (B, u)
    low = torch.zeros_like(rank)
    high = sizes[:, None].expand_as(rank).clone()
    for _ in range(int(sizes.max()).bit_length()):
        middle = (low + high) // 2
        at = (first[:, None] + middle).clamp(max=len(members) - 1)
        before = (members[at] - middle <= rank) & (middle < high)
        low = torch.where(before, middle + 1, low)
        high = torch.where(before, high, middle)
    return (rank + low).clamp(max=total - 1)
