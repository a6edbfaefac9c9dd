"""Cross-entropy of softmax rows against few targets each, and the same for rows that are inner products.

B rows, N columns, k numbers of a factor, K targets a row.

    loss_b = log sum_n exp l_bn - (1 - s) sum_j w_bj l_b,t_bj - s mean_n l_bn,     s the smoothing, sum_j w_bj = 1

`product_cross_entropy` takes l = left right^T as its factors. It keeps one (B, N) tensor for the backward pass where it
fits, else none, and goes through the rows in parts; what autograd would keep of the plain lines is several times that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from pathformer.nn.backend import fused

__all__ = ["cross_entropy", "product_cross_entropy"]

PART = 1 << 28  # numbers of l that are there at once; up to so many are kept for the backward pass


def cross_entropy(logits: Tensor, targets: Tensor, shares: Tensor, smoothing: float = 0.0) -> Tensor:
    """logits (B, N) float32, targets (B, K) columns, shares (B, K) -> (B,)."""
    chosen = (logits.gather(1, targets.long()) * shares).sum(dim=1)
    loss = logits.logsumexp(dim=1) - (1.0 - smoothing) * chosen
    return loss - smoothing * logits.mean(dim=1) if smoothing else loss


def product_cross_entropy(
    left: Tensor, right: Tensor, targets: Tensor, shares: Tensor, smoothing: float = 0.0
) -> Tensor:
    """The loss of l = left right^T. left (B, k), right (N, k), targets and shares (B, K) -> (B,) float32."""
    loss: Tensor = _ProductCrossEntropy.apply(left, right, targets.long(), shares, smoothing)  # type: ignore[no-untyped-call]
    return loss


class _ProductCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, targets: Tensor, shares: Tensor, smoothing: float) -> Tensor:
        ctx.smoothing = smoothing
        keep = len(left) * len(right) <= PART
        kept, sums, chosen = None, [], []
        for rows in _parts(len(left), len(right)):
            logits = _product(left[rows], right)
            kept = logits if keep else None
            sums.append(_log_sum(logits))
            chosen.append((logits.gather(1, targets[rows]) * shares[rows]).sum(dim=1))
        log_sum = torch.cat(sums)
        ctx.save_for_backward(left, right, targets, shares, log_sum, kept)
        loss = log_sum - (1.0 - smoothing) * torch.cat(chosen)
        return loss - smoothing * (left.float() @ right.float().mean(dim=0)) if smoothing else loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        left, right, targets, shares, log_sum, kept = ctx.saved_tensors
        grad, smoothing = grads[0].contiguous(), ctx.smoothing
        of_left, of_right = [], None
        for rows in _parts(len(left), len(right)):
            logits = kept if kept is not None else _product(left[rows], right)
            owed = _slope(logits, log_sum[rows], grad[rows], smoothing / len(right), left.dtype)  # (b, N)
            debts = (smoothing - 1.0) * grad[rows, None] * shares[rows]
            owed.scatter_add_(1, targets[rows], debts.to(owed.dtype))
            of_left.append(owed @ right)
            more = owed.t() @ left[rows]
            of_right = more if of_right is None else of_right + more
        assert of_right is not None
        return torch.cat(of_left), of_right, None, None, None


def _parts(rows: int, columns: int) -> Iterator[slice]:
    size = max(1, PART // columns)
    return (slice(first, min(first + size, rows)) for first in range(0, rows, size))


def _product(left: Tensor, right: Tensor) -> Tensor:
    """left right^T in float32: where factors are bf16, 8 bits would be too few for what an exponential is taken of."""
    if left.is_cuda and left.dtype is not torch.float32:
        return torch.mm(left, right.t(), out_dtype=torch.float32)
    return (left @ right.t()).float()


def _log_sum(logits: Tensor) -> Tensor:
    """log sum_n exp l_bn. (B, N) -> (B,)."""
    if fused(logits):
        from pathformer.nn.kernels.cross_entropy import log_sum

        return log_sum(logits)
    return logits.logsumexp(dim=1)


def _slope(logits: Tensor, log_sum: Tensor, grad: Tensor, less: float, dtype: torch.dtype) -> Tensor:
    """g_b (exp(l_bn - log_sum_b) - less), in the precision of the products that follow. (B, N) -> (B, N)."""
    if fused(logits):
        from pathformer.nn.kernels.cross_entropy import slope

        return slope(logits, log_sum, grad, less, dtype)
    return ((logits - log_sum[:, None]).exp() - less).mul_(grad[:, None]).to(dtype)
