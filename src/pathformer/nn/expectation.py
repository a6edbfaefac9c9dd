"""Expected rows of a table: softmax over inner products, and the mean of rows that it weighs.

B queries, N rows, k numbers of a factor, d columns.

    p_bn = exp(l_bn) / sum_m exp(l_bm),  l = left right^T          x_b = sum_n p_bn rows_n

Products are taken in the precision of the factors, their sums and the exponentials in float32. One (B, N) tensor is
kept for the backward pass, p in the precision of the factors:  dl_bn = p_bn (<dx_b, rows_n> - <dx_b, x_b>).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pathformer.nn.cross_entropy import padded_rows, wide_product

__all__ = ["expected_rows"]


def expected_rows(left: Tensor, right: Tensor, rows: Tensor) -> Tensor:
    """left (B, k), right (N, k), rows (N, d), all in one precision -> (B, d) in the same."""
    expected: Tensor = _ExpectedRows.apply(left, right, rows)  # type: ignore[no-untyped-call]
    return expected


class _ExpectedRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, rows: Tensor) -> Tensor:
        ctx.columns = len(right)
        right, rows = padded_rows(right), padded_rows(rows)  # (M, .), M >= N
        logits = wide_product(left, right)  # (B, M)
        logits[:, ctx.columns :] = -torch.inf
        shares = logits.softmax(dim=1).to(rows.dtype)  # p
        expected = shares @ rows
        ctx.save_for_backward(left, right, rows, shares, expected)
        return expected

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
        left, right, rows, shares, expected = ctx.saved_tensors
        grad = grads[0].contiguous()
        mean = (grad.float() * expected.float()).sum(dim=1, keepdim=True)
        slope = wide_product(grad, rows).sub_(mean).mul_(shares).to(left.dtype)  # dl
        _, of_right, of_rows = ctx.needs_input_grad
        return (
            slope @ right,
            (slope.t() @ left)[: ctx.columns] if of_right else None,
            (shares.t() @ grad)[: ctx.columns] if of_rows else None,
        )
