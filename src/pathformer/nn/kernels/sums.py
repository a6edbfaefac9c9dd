"""Column sums of what the programs of a backward pass have summed so far, in the type that is wanted."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["column_sums"]

ROWS, COLUMNS = 128, 32


def column_sums(partial: Tensor, dtype: torch.dtype) -> Tensor:
    """partial (P, w) float32 -> (w,)."""
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
