"""Row sums of exponentials, and their slopes: each one pass over a (B, M) tensor whose first N columns count."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["log_sum", "slope"]

BLOCK, WARPS = 4096, 8


def log_sum(logits: Tensor, columns: int) -> Tensor:
    """log sum_n exp l_bn over the first N columns, one program a row. (B, M) float32 -> (B,) float32."""
    out = torch.empty(len(logits), dtype=torch.float32, device=logits.device)
    _log_sum[(len(logits),)](logits, out, columns, logits.shape[1], BLOCK=BLOCK, num_warps=WARPS)
    return out


def slope(logits: Tensor, columns: int, sums: Tensor, grad: Tensor, less: float, dtype: torch.dtype) -> Tensor:
    """g_b (exp(l_bn - sums_b) - less), 0 beyond N. (B, M) float32 -> (B, M) of `dtype`."""
    count, stride = logits.shape
    out = torch.empty(count, stride, dtype=dtype, device=logits.device)
    grid = (count, triton.cdiv(stride, BLOCK))
    _slope[grid](logits, sums, grad, out, less, columns, stride, BLOCK=BLOCK, num_warps=WARPS)
    return out


@triton.jit
def _log_sum(logits, out, width, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    most = tl.full([BLOCK], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, width, BLOCK):
        inside = first + column < width
        value = tl.load(logits + row * stride + first + column, mask=inside, other=float("-inf"))
        more = tl.maximum(most, value)
        safe = tl.where(more == float("-inf"), 0.0, more)
        total = total * tl.exp(most - safe) + tl.exp(value - safe)
        most = more
    peak = tl.max(most, axis=0)
    whole = tl.sum(total * tl.exp(most - peak), axis=0)
    tl.store(out + row, peak + tl.log(whole))


@triton.jit
def _slope(logits, sums, grads, out, less, width, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = row * stride + column
    value = tl.load(logits + at, mask=column < width, other=0.0)
    found = tl.load(grads + row) * (tl.exp(value - tl.load(sums + row)) - less)
    tl.store(out + at, tl.where(column < width, found, 0.0), mask=column < stride)
