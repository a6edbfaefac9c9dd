"""The mean over each of P packed sequences, T rows of d numbers in all."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["mean_pool"]


def mean_pool(rows: Tensor, offsets: Tensor) -> Tensor:
    """Means of sequences: rows (T, d), offsets (P + 1,) -> (P, d)."""
    pooled: Tensor = _MeanPool.apply(rows, offsets)
    return pooled


class _MeanPool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows, offsets):
        count, width = len(offsets) - 1, rows.shape[1]
        out = torch.empty(count, width, dtype=rows.dtype, device=rows.device)
        _pool_forward[(count,)](rows, offsets, out, WIDTH=width, BLOCK=triton.next_power_of_2(width), num_warps=4)
        ctx.save_for_backward(offsets)
        ctx.rows = len(rows)
        return out

    @staticmethod
    def backward(ctx: Any, *grads):
        (offsets,) = ctx.saved_tensors
        grad = grads[0].contiguous()
        width = grad.shape[1]
        out = torch.empty(ctx.rows, width, dtype=grad.dtype, device=grad.device)
        block = triton.next_power_of_2(width)
        _pool_backward[(len(grad),)](grad, offsets, out, WIDTH=width, BLOCK=block, num_warps=4)
        return out, None


@triton.jit
def _pool_forward(rows, offsets, out, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    path = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    first, last = tl.load(offsets + path).to(tl.int64), tl.load(offsets + path + 1).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(first, last):
        total += tl.load(rows + row * WIDTH + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + path * WIDTH + column, total / (last - first), mask=inside)


@triton.jit
def _pool_backward(grads, offsets, out, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    path = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    first, last = tl.load(offsets + path).to(tl.int64), tl.load(offsets + path + 1).to(tl.int64)
    grad = tl.load(grads + path * WIDTH + column, mask=inside, other=0.0).to(tl.float32) / (last - first)
    for row in range(first, last):
        tl.store(out + row * WIDTH + column, grad, mask=inside)
