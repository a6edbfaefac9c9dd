"""Draws a member and non-members of sorted sets: one program a set, its draws side by side."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["draw_candidates"]


def draw_candidates(
    chance: Tensor, sets: Tensor, bounds: Tensor, members: Tensor, total: int, filtered: bool
) -> tuple[Tensor, Tensor]:
    """Draws as `nn.draw_candidates.draw_candidates` says."""
    count, width = chance.shape
    out = torch.empty(count, width, dtype=torch.int32, device=chance.device)
    sizes = torch.empty(count, dtype=torch.int64, device=chance.device)
    _draw_candidates[(count,)](
        chance, chance.stride(0), sets, bounds, members, out, sizes, total,
        WIDTH=width, BLOCK=triton.next_power_of_2(width), FILTERED=filtered, num_warps=4,
    )  # fmt: skip
    return out, sizes


@triton.jit
def _draw_candidates(
    chance, stride, sets, bounds, members, out, sizes, total,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, FILTERED: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    number = tl.load(sets + row)
    first = tl.load(bounds + number)
    size = tl.load(bounds + number + 1) - first
    drawn = tl.load(chance + row * stride + column, mask=column < WIDTH, other=0)
    inside = tl.load(members + first + drawn % size, mask=column == 0, other=0).to(tl.int64)
    if FILTERED:
        rank = drawn % tl.maximum(total - size, 1)
        low = tl.zeros([BLOCK], dtype=tl.int64)
        high = low + size
        left = size
        while left > 0:
            middle = (low + high) // 2
            open_ = middle < high
            before = open_ & (tl.load(members + first + middle, mask=open_, other=0).to(tl.int64) - middle <= rank)
            low = tl.where(before, middle + 1, low)
            high = tl.where(before, high, middle)
            left = left // 2
        outside = tl.minimum(rank + low, total - 1)
    else:
        outside = drawn % total
    tl.store(out + row * WIDTH + column, tl.where(column == 0, inside, outside).to(tl.int32), mask=column < WIDTH)
    tl.store(sizes + row, size)
