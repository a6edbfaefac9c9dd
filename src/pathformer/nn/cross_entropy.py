"""Softmax over inner products: the cross-entropy of its rows against few targets each, and the rows that it expects.

B rows, N columns (M with padding), k numbers of a factor, d of a row, K targets a row, R columns that count more.

    l = left right^T,    p_bn = exp l_bn / sum_m exp l_bm
    loss_b = log sum_n exp l_bn - (1 - s) sum_j w_bj l_b,t_bj - s mean_n l_bn,     s the smoothing, sum_j w_bj = 1
    x_b    = sum_n p_bn rows_n

In a loss some columns of a row may count more often than once in its sum: column m_bi c_bi times more.

Products are taken in the precision of the factors, their sums and the exponentials in float32. A loss keeps one (B, N)
tensor for the backward pass where it fits, else none, and goes through the rows in parts; what autograd would keep of
the plain lines is several times that. Expected rows keep p:  dl_bn = p_bn (<dx_b, rows_n> - <dx_b, x_b>).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.backend import is_fused

__all__ = ["cross_entropy", "expected_rows", "pad_rows", "product_cross_entropy"]

PART = 1 << 28  # numbers of l in memory at once; up to so many are kept for the backward pass
ALIGNED = 64  # columns of l on a device are a multiple of it


More = tuple[Tensor, Tensor]  # (B, R) columns m_bi, and how many times more they count, c_bi >= 0


def cross_entropy(
    logits: Tensor, targets: Tensor, shares: Tensor, smoothing: float = 0.0, more: More | None = None
) -> Tensor:
    """The loss of l as it is given: logits (B, N) float32, targets (B, K) columns, shares (B, K) -> (B,)."""
    chosen = (logits.gather(1, targets.long()) * shares).sum(dim=1)
    sums = logits.logsumexp(dim=1)
    if more is not None:
        sums = _with_more(sums, logits, *more)
    loss = sums - (1.0 - smoothing) * chosen
    return loss - smoothing * logits.mean(dim=1) if smoothing else loss


def product_cross_entropy(
    left: Tensor, right: Tensor, targets: Tensor, shares: Tensor, smoothing: float = 0.0, more: More | None = None
) -> Tensor:
    """The loss of l = left right^T. left (B, k), right (N, k), targets and shares (B, K) -> (B,) float32."""
    often = (None, None) if more is None else more
    loss: Tensor = _ProductCrossEntropy.apply(left, right, targets.long(), shares, smoothing, *often)  # type: ignore[no-untyped-call]
    return loss


class _ProductCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        left: Tensor,
        right: Tensor,
        targets: Tensor,
        shares: Tensor,
        smoothing: float,
        more: Tensor | None,
        times: Tensor | None,
    ) -> Tensor:
        ctx.smoothing, ctx.columns = smoothing, len(right)
        padded = pad_rows(right)  # (M, k), M >= N
        keep = len(left) * len(padded) <= PART
        kept, sums, chosen = None, [], []
        for rows in _parts(len(left), len(padded)):
            logits = _multiply(left[rows], padded)  # (b, M); what lies beyond N counts for nothing
            kept = logits if keep else None
            sums.append(_log_sum(logits, len(right)))
            if more is not None and times is not None:
                sums[-1] = _with_more(sums[-1], logits, more[rows], times[rows])
            chosen.append((logits.gather(1, targets[rows]) * shares[rows]).sum(dim=1))
        log_sum = torch.cat(sums)
        ctx.save_for_backward(left, padded, targets, shares, log_sum, kept, more, times)
        loss = log_sum - (1.0 - smoothing) * torch.cat(chosen)
        return loss - smoothing * (left.float() @ right.float().mean(dim=0)) if smoothing else loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None, None, None, None, None]:
        left, right, targets, shares, log_sum, kept, more, times = ctx.saved_tensors
        grad, smoothing, columns = grads[0].contiguous(), ctx.smoothing, ctx.columns
        of_left, of_right = [], None
        for rows in _parts(len(left), len(right)):
            logits = kept if kept is not None else _multiply(left[rows], right)
            slopes = _slope(logits, columns, log_sum[rows], grad[rows], smoothing / columns, left.dtype)  # (b, M)
            added = (smoothing - 1.0) * grad[rows, None] * shares[rows]
            slopes.scatter_add_(1, targets[rows], added.to(slopes.dtype))
            if more is not None:
                added = (logits.gather(1, more[rows]) - log_sum[rows, None]).exp() * times[rows] * grad[rows, None]
                slopes.scatter_add_(1, more[rows], added.to(slopes.dtype))
            of_left.append(slopes @ right)
            if ctx.needs_input_grad[1]:  # a table that is kept as it is has none
                part = (slopes.t() @ left[rows])[:columns]
                of_right = part if of_right is None else of_right + part
        return torch.cat(of_left), of_right, None, None, None, None, None


def _with_more(sums: Tensor, logits: Tensor, more: Tensor, times: Tensor) -> Tensor:
    """log(exp sums_b + sum_i c_bi exp l_b,m_bi). (B,) -> (B,)."""
    again = logits.gather(1, more) + times.log()
    return torch.cat([sums[:, None], again], dim=1).logsumexp(dim=1)


def _parts(rows: int, columns: int) -> Iterator[slice]:
    """Cuts rows into slices that hold at most PART numbers."""
    size = max(1, PART // columns)
    return (slice(first, min(first + size, rows)) for first in range(0, rows, size))


def pad_rows(right: Tensor) -> Tensor:
    """Adds rows of zeros up to a multiple of ALIGNED: products of odd sizes take slower kernels."""
    more = -len(right) % ALIGNED
    return F.pad(right, (0, 0, 0, more)) if more and is_fused(right) else right


def _multiply(left: Tensor, right: Tensor) -> Tensor:
    """left right^T in float32, also for factors in bf16: 8 bits are too few for the argument of an exponential."""
    if left.is_cuda and left.dtype is not torch.float32:
        return torch.mm(left, right.t(), out_dtype=torch.float32)
    return (left @ right.t()).float()


def _log_sum(logits: Tensor, columns: int) -> Tensor:
    """log sum_n exp l_bn over the first N columns. (B, M) -> (B,)."""
    if is_fused(logits):
        from pathformer.nn.kernels.cross_entropy import log_sum

        return log_sum(logits, columns)
    return logits[:, :columns].logsumexp(dim=1)


def _slope(logits: Tensor, columns: int, log_sum: Tensor, grad: Tensor, less: float, dtype: torch.dtype) -> Tensor:
    """g_b (exp(l_bn - log_sum_b) - less), 0 beyond N, in the precision of the products to come. (B, M) -> (B, M)."""
    if is_fused(logits):
        from pathformer.nn.kernels.cross_entropy import slope

        return slope(logits, columns, log_sum, grad, less, dtype)
    found = ((logits - log_sum[:, None]).exp() - less).mul_(grad[:, None])
    found[:, columns:] = 0.0
    return found.to(dtype)


def expected_rows(left: Tensor, right: Tensor, rows: Tensor) -> Tensor:
    """x = p rows: left (B, k), right (N, k), rows (N, d), all in one precision -> (B, d) in that precision."""
    expected: Tensor = _ExpectedRows.apply(left, right, rows)  # type: ignore[no-untyped-call]
    return expected


class _ExpectedRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, rows: Tensor) -> Tensor:
        ctx.columns = len(right)
        right, rows = pad_rows(right), pad_rows(rows)  # (M, .), M >= N
        logits = _multiply(left, right)  # (B, M)
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
        slope = _multiply(grad, rows).sub_(mean).mul_(shares).to(left.dtype)  # dl
        _, of_right, of_rows = ctx.needs_input_grad
        return (
            slope @ right,
            (slope.t() @ left)[: ctx.columns] if of_right else None,
            (shares.t() @ grad)[: ctx.columns] if of_rows else None,
        )
