"""drop(scale x + PE), T rows of d numbers, in one pass over memory; backward likewise, without PE."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from pathformer.nn.kernels.chance import keep_row

__all__ = ["enter"]


def enter(
    rows: Tensor, positions: Tensor | None, places: Tensor, scale: float, rate: float, seed: Tensor | None
) -> Tensor:
    """rows (T, d), positions (L, d), places (T,) of each row in its sequence -> (T, d)."""
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
