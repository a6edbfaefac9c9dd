"""drop(scale x + PE) and drop(relu(x + b)), T rows of d or f numbers, each in one pass over memory, backward likewise.

The result of the second says by itself where the gradient passes: it is positive exactly where x + b was positive and
was kept. So neither mask nor input is kept for the backward pass.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from pathformer.nn.kernels.common import column_sums, keep, keep_row, keep_run

__all__ = ["enter", "relu_dropout"]

ROWS, COLUMNS, WARPS = 16, 128, 4  # a tile
BACK_ROWS, BACK_COLUMNS, BACK_WARPS, STAGES = 16, 128, 4, 2
LANES = 64  # so many programs share the rows of a column


def enter(
    rows: Tensor, positions: Tensor | None, places: Tensor, scale: float, rate: float, seed: Tensor | None
) -> Tensor:
    """drop(scale x + PE): rows (T, d), positions (L, d), places (T,) of rows in their sequences -> (T, d)."""
    entered: Tensor = _Enter.apply(rows, positions, places, scale, rate, seed)
    return entered


class _Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows, positions, places, scale, rate, seed):
        out = torch.empty_like(rows)
        _launch(rows, out, positions, places, scale, rate, seed)
        ctx.save_for_backward(seed)
        ctx.scale, ctx.rate = scale, rate
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor):
        (seed,) = ctx.saved_tensors
        grad = grads[0].contiguous()
        out = torch.empty_like(grad)
        _launch(grad, out, None, None, ctx.scale, ctx.rate, seed)
        return out, None, None, None, None, None


def _launch(rows, out, positions, places, scale, rate, seed):
    width = rows.shape[1]
    _enter_rows[(len(rows),)](
        rows,
        out,
        positions,
        places,
        seed,
        scale,
        rate,
        WIDTH=width,
        BLOCK=triton.next_power_of_2(width),
        PLACED=positions is not None,
        DROP=seed is not None,
        num_warps=4,
    )


@triton.jit
def _enter_rows(
    rows, out, positions, places, seed, scale, rate,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, PLACED: tl.constexpr, DROP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    at = row * WIDTH + column
    value = tl.load(rows + at, mask=inside, other=0.0).to(tl.float32) * scale
    if PLACED:
        place = tl.load(places + row)
        value += tl.load(positions + place * WIDTH + column, mask=inside, other=0.0).to(tl.float32)
    if DROP:
        value = tl.where(keep_row(seed, row, rate, WIDTH, BLOCK), value * (1.0 / (1.0 - rate)), 0.0)
    tl.store(out + at, value, mask=inside)


def relu_dropout(values: Tensor, bias: Tensor, rate: float, seed: Tensor | None) -> Tensor:
    """drop(relu(x + b)): values (T, f), bias (f,) -> (T, f)."""
    dropped: Tensor = _ReluDropout.apply(values, bias, rate, seed)
    return dropped


class _ReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values, bias, rate, seed):
        count, width = values.shape
        out = torch.empty_like(values)
        _activation_forward[(triton.cdiv(width, COLUMNS), triton.cdiv(count, ROWS))](
            values, bias, out, seed, rate, count,
            WIDTH=width, ROWS=ROWS, COLUMNS=COLUMNS, DROP=seed is not None, num_warps=WARPS,
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
        lanes = min(LANES, triton.cdiv(count, BACK_ROWS))
        sums = torch.empty(lanes, width, dtype=torch.float32, device=out.device)
        _activation_backward[(triton.cdiv(width, BACK_COLUMNS), lanes)](
            grads[0].contiguous(), out, result, sums, ctx.scale, count,
            WIDTH=width, ROWS=BACK_ROWS, COLUMNS=BACK_COLUMNS, STAGES=STAGES, num_warps=BACK_WARPS,
        )  # fmt: skip
        return result, column_sums(sums, ctx.kind), None, None


@triton.jit
def _activation_forward(
    values, bias, out, seed, rate, count,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DROP: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(1) * ROWS
    row = first + tl.arange(0, ROWS)
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < count)[:, None] & (column < WIDTH)[None, :]
    base = first.to(tl.int64) * WIDTH  # 64 bits for the tile's place, 32 within it
    at = tl.arange(0, ROWS)[:, None] * WIDTH + column[None, :]
    value = tl.load(values + base + at, mask=inside, other=0.0).to(tl.float32)
    value += tl.load(bias + column, mask=column < WIDTH, other=0.0).to(tl.float32)[None, :]
    value = tl.maximum(value, 0.0)
    if DROP:
        if WIDTH % 2 == 0:
            half = tl.program_id(0) * (COLUMNS // 2) + tl.arange(0, COLUMNS // 2)
            kept = keep_run(tl.load(seed), row[:, None] * (WIDTH // 2) + half[None, :], rate)
        else:
            kept = keep(tl.load(seed), row[:, None] * WIDTH + column[None, :], rate)
        value = tl.where(kept, value * (1.0 / (1.0 - rate)), 0.0)
    tl.store(out + base + at, value, mask=inside)


@triton.jit
def _activation_backward(
    grads, out, result, sums, scale, count,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    at = tl.arange(0, ROWS)[:, None] * WIDTH + column[None, :]
    total = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    for first in tl.range(tl.program_id(1) * ROWS, count, tl.num_programs(1) * ROWS, num_stages=STAGES):
        inside = (first + tl.arange(0, ROWS) < count)[:, None] & (column < WIDTH)[None, :]
        base = first * tl.full([], WIDTH, tl.int64)
        value = tl.load(grads + base + at, mask=inside, other=0.0).to(tl.float32) * scale
        value = tl.where(tl.load(out + base + at, mask=inside, other=0.0) > 0, value, 0.0)
        tl.store(result + base + at, value, mask=inside)
        total += value
    tl.store(sums + tl.program_id(1) * WIDTH + column, tl.sum(total, axis=0), mask=column < WIDTH)
