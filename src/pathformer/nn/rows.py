"""Rows of values, taken by number."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["take_once"]


def take_once(values: Tensor, rows: Tensor) -> Tensor:
    """values[rows] for rows that are all different. values (V, d), rows (n,) -> (n, d).

    Knowing that no row repeats, the backward pass copies rows into place instead of adding them one by one.
    """
    if not torch.is_grad_enabled():
        return values.index_select(0, rows)  # what a question's few rows cost is the calls
    taken: Tensor = _TakeOnce.apply(values, rows)  # type: ignore[no-untyped-call]
    return taken


class _TakeOnce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, rows: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.count = len(values)
        return values.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        return grads[0].new_zeros(ctx.count, grads[0].shape[1]).index_copy_(0, rows, grads[0]), None
