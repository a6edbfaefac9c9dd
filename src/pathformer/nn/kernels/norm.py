"""s = x + drop(y + b) and LayerNorm(s), T rows of d numbers, in one pass over memory; backward likewise.

With n = (s - mean) / std and g the gain, the gradient that reaches s through its normalised form is
    ds = (g dn - mean(g dn) - n mean(g dn n)) / std,
to which the gradient of s itself is added. Gains, shifts and biases get column sums, first by program, then over all.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from pathformer.nn.kernels.common import column_sums, keep_row

__all__ = ["add_norm"]

WARPS = 2
BACK_WARPS, PROGRAMS, STAGES = 4, 528, 2  # of the backward pass: so many programs, each with every 528th row


def add_norm(
    rows: Tensor,
    update: Tensor | None,
    bias: Tensor | None,
    gain: Tensor,
    shift: Tensor,
    epsilon: float,
    rate: float,
    seed: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """rows, update (T, d), bias, gain, shift (d,) -> sum (T, d), its LayerNorm (T, d); without update sum is rows."""
    total, normed = _AddNorm.apply(rows, update, bias, gain, shift, epsilon, rate, seed)
    return (rows if update is None else total), normed


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows, update, bias, gain, shift, epsilon, rate, seed):
        ctx.set_materialize_grads(False)
        count, width = rows.shape
        total = rows if update is None else torch.empty_like(rows)
        normed = torch.empty_like(rows)
        mean = torch.empty(count, dtype=torch.float32, device=rows.device)
        scale = torch.empty_like(mean)
        _norm_forward[(count,)](
            rows, update, bias, gain, shift, total, normed, mean, scale, seed, epsilon, rate,
            WIDTH=width, BLOCK=triton.next_power_of_2(width), ADD=update is not None, BIAS=bias is not None,
            DROP=seed is not None, num_warps=WARPS,
        )  # fmt: skip
        ctx.save_for_backward(total, gain, mean, scale, seed)
        ctx.rate, ctx.added, ctx.biased = rate, update is not None, bias is not None
        if update is None:  # an input must not be returned as it is: a stand-in that nobody reads
            ctx.mark_non_differentiable(mean)
            return mean, normed
        return total, normed

    @staticmethod
    def backward(ctx: Any, *grads):
        total, gain, mean, scale, seed = ctx.saved_tensors
        count, width = total.shape
        of_total = grads[0].contiguous() if ctx.added and grads[0] is not None else None
        of_normed = grads[1].contiguous()
        out = torch.empty_like(total)
        separate = ctx.added and seed is not None  # else rows and update have the same gradient
        of_update = torch.empty_like(total) if separate else out
        programs, parts = min(PROGRAMS, count), 3 if ctx.biased else 2
        sums = torch.empty(programs, parts * width, dtype=torch.float32, device=total.device)
        _norm_backward[(programs,)](
            of_total, of_normed, total, gain, mean, scale, out, of_update, sums, seed, ctx.rate, count,
            WIDTH=width, BLOCK=triton.next_power_of_2(width), PARTS=parts, TOTAL=of_total is not None,
            DROP=separate, BIAS=ctx.biased, STAGES=STAGES, num_warps=BACK_WARPS,
        )  # fmt: skip
        found = column_sums(sums, gain.dtype).view(parts, width)
        of_bias = found[2] if ctx.biased else None
        return out, of_update if ctx.added else None, of_bias, found[0], found[1], None, None, None


@triton.jit
def _norm_forward(
    rows, update, bias, gain, shift, total, normed, mean, scale, seed, epsilon, rate,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, ADD: tl.constexpr, BIAS: tl.constexpr, DROP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    at = row * WIDTH + column
    value = tl.load(rows + at, mask=inside, other=0.0)
    if ADD:
        added = tl.load(update + at, mask=inside, other=0.0).to(tl.float32)
        if BIAS:
            added += tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)
        if DROP:
            added = tl.where(keep_row(seed, row, rate, WIDTH, BLOCK), added * (1.0 / (1.0 - rate)), 0.0)
        value = (value.to(tl.float32) + added).to(value.dtype)
        tl.store(total + at, value, mask=inside)
    value = value.to(tl.float32)  # what was stored is what is normalised
    average = tl.sum(value, axis=0) * (1.0 / WIDTH)
    centred = tl.where(inside, value - average, 0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) * (1.0 / WIDTH) + epsilon)
    out = centred * inverse * tl.load(gain + column, mask=inside, other=0.0).to(tl.float32)
    out += tl.load(shift + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(normed + at, out, mask=inside)
    tl.store(mean + row, average)
    tl.store(scale + row, inverse)


@triton.jit
def _norm_backward(
    of_total, of_normed, total, gain, mean, scale, out, of_update, sums, seed, rate, count,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, PARTS: tl.constexpr, TOTAL: tl.constexpr, DROP: tl.constexpr,
    BIAS: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    gains = tl.load(gain + column, mask=inside, other=0.0).to(tl.float32)
    sum_gain = tl.zeros([BLOCK], dtype=tl.float32)
    sum_shift = tl.zeros([BLOCK], dtype=tl.float32)
    sum_bias = tl.zeros([BLOCK], dtype=tl.float32)
    for row in tl.range(tl.program_id(0), count, tl.num_programs(0), num_stages=STAGES):
        at = row * tl.full([], WIDTH, tl.int64) + column
        grad = tl.load(of_normed + at, mask=inside, other=0.0).to(tl.float32)
        value = tl.load(total + at, mask=inside, other=0.0).to(tl.float32)
        inverse = tl.load(scale + row)
        unit = tl.where(inside, (value - tl.load(mean + row)) * inverse, 0.0)  # n
        sum_gain += grad * unit
        sum_shift += grad
        grad *= gains
        along = tl.sum(grad * unit, axis=0) * (1.0 / WIDTH)
        result = (grad - tl.sum(grad, axis=0) * (1.0 / WIDTH) - unit * along) * inverse
        if TOTAL:
            result += tl.load(of_total + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + at, result, mask=inside)
        if DROP:
            result = tl.where(keep_row(seed, row, rate, WIDTH, BLOCK), result * (1.0 / (1.0 - rate)), 0.0)
            tl.store(of_update + at, result, mask=inside)
        if BIAS:
            sum_bias += tl.where(inside, result, 0.0)
    base = sums + tl.program_id(0) * PARTS * WIDTH + column
    tl.store(base, sum_gain, mask=inside)
    tl.store(base + WIDTH, sum_shift, mask=inside)
    if BIAS:
        tl.store(base + 2 * WIDTH, sum_bias, mask=inside)
