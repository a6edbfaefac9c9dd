"""What several kernels share: random masks that need not be kept, and sums over all rows.

A mask is a function of a seed and a position, so the backward pass makes it again. A 32-bit integer hash (two
multiplications, three shifts) of position and seed gives the bits of two neighbouring positions, 16 each. Philox would
cost a multiple: at the size of a hidden layer, more than moving the numbers that are masked.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["column_sums", "keep", "keep_row", "keep_run"]

ROWS, COLUMNS = 128, 32  # a tile of `column_sums`


@triton.jit
def _hash(seed, pair):
    bits = pair.to(tl.uint32) ^ (seed.to(tl.uint32) * 0x9E3779B1)
    bits = (bits ^ (bits >> 16)) * 0x7FEB352D
    bits = (bits ^ (bits >> 15)) * 0x846CA68B
    return bits ^ (bits >> 16)


@triton.jit
def keep(seed, place, rate):
    """Whether to keep the number at `place`: true with probability 1 - rate, to 16 bits."""
    bits = _hash(seed, place >> 1) >> ((place & 1) * 16).to(tl.uint32)
    return (bits & 0xFFFF).to(tl.float32) >= rate * 65536.0


@triton.jit
def keep_run(seed, pairs, rate):
    """`keep` for the places 2 pairs and 2 pairs + 1, side by side along the last axis, at half the cost."""
    bits = _hash(seed, pairs)
    return tl.interleave((bits & 0xFFFF).to(tl.float32), (bits >> 16).to(tl.float32)) >= rate * 65536.0


@triton.jit
def keep_row(seed, row, rate, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """The mask of one row, two places at a time where rows are of even length."""
    if WIDTH % 2 == 0:
        return keep_run(tl.load(seed), row * (WIDTH // 2) + tl.arange(0, BLOCK // 2), rate)
    else:  # noqa: RET505 (the compiler wants to see both branches)
        return keep(tl.load(seed), row * WIDTH + tl.arange(0, BLOCK), rate)


def column_sums(partial: Tensor, dtype: torch.dtype) -> Tensor:
    """Sums the columns of what P programs have summed: partial (P, w) float32 -> (w,) of `dtype`."""
    count, width = partial.shape
    out = torch.empty(width, dtype=dtype, device=partial.device)
    _column_sums[(triton.cdiv(width, COLUMNS),)](
        partial, out, count, WIDTH=width, ROWS=ROWS, COLUMNS=COLUMNS, num_warps=8
    )
    return out


@triton.jit
def _column_sums(partial, out, count, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    for first in range(0, count, ROWS):
        row = first + tl.arange(0, ROWS)
        inside = (row < count)[:, None] & (column < WIDTH)[None, :]
        total += tl.load(partial + row[:, None] * WIDTH + column[None, :], mask=inside, other=0.0)
    tl.store(out + column, tl.sum(total, axis=0), mask=column < WIDTH)
