"""drop(relu(x + b)), T rows of f numbers, in one pass over memory.

The result says by itself where the gradient passes: it is positive exactly where x + b was and was kept. So neither
mask nor input is kept for the backward pass.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from pathformer.nn.kernels.chance import keep

__all__ = ["relu_dropout"]

ROWS, COLUMNS, LANES = 16, 128, 64  # a tile, and over how many programs the rows are spread in the backward pass


def relu_dropout(values: Tensor, bias: Tensor, rate: float, seed: Tensor | None) -> Tensor:
    """values (T, f), bias (f,) -> (T, f)."""
    dropped: Tensor = _ReluDropout.apply(values, bias, rate, seed)
    return dropped


class _ReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values, bias, rate, seed):
        count, width = values.shape
        out = torch.empty_like(values)
        _activation_forward[(triton.cdiv(width, COLUMNS), triton.cdiv(count, ROWS))](
            values, bias, out, seed, rate, count,
            WIDTH=width, ROWS=ROWS, COLUMNS=COLUMNS, DROP=seed is not None, num_warps=4,
        )  # fmt: skip
        ctx.save_for_backward(out)
        ctx.scale = 1.0 / (1.0 - rate) if seed is not None else 1.0
        ctx.kind = bias.dtype
        return out

    @staticmethod
    def backward(ctx: Any, *grads):
        (out,) = ctx.saved_tensors
        count, width = out.shape
        result = torch.empty_like(out)
        lanes = min(LANES, triton.cdiv(count, ROWS))
        sums = torch.empty(lanes, width, dtype=torch.float32, device=out.device)
        _activation_backward[(triton.cdiv(width, COLUMNS), lanes)](
            grads[0].contiguous(), out, result, sums, ctx.scale, count,
            WIDTH=width, ROWS=ROWS, COLUMNS=COLUMNS, num_warps=4,
        )  # fmt: skip
        return result, sums.sum(dim=0).to(ctx.kind), None, None


@triton.jit
def _activation_forward(
    values, bias, out, seed, rate, count,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DROP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < count)[:, None] & (column < WIDTH)[None, :]
    at = row[:, None] * WIDTH + column[None, :]
    value = tl.load(values + at, mask=inside, other=0.0).to(tl.float32)
    value += tl.load(bias + column, mask=column < WIDTH, other=0.0).to(tl.float32)[None, :]
    value = tl.maximum(value, 0.0)
    if DROP:
        value = tl.where(keep(tl.load(seed), at, rate), value / (1.0 - rate), 0.0)
    tl.store(out + at, value, mask=inside)


@triton.jit
def _activation_backward(
    grads, out, result, sums, scale, count, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros([COLUMNS], dtype=tl.float32)
    for first in range(tl.program_id(1) * ROWS, count, tl.num_programs(1) * ROWS):
        row = first + tl.arange(0, ROWS)
        inside = (row < count)[:, None] & (column < WIDTH)[None, :]
        at = row[:, None] * WIDTH + column[None, :]
        value = tl.load(grads + at, mask=inside, other=0.0).to(tl.float32) * scale
        value = tl.where(tl.load(out + at, mask=inside, other=0.0) > 0, value, 0.0)
        tl.store(result + at, value, mask=inside)
        total += tl.sum(value, axis=0)
    tl.store(sums + tl.program_id(1) * WIDTH + column, total, mask=column < WIDTH)
