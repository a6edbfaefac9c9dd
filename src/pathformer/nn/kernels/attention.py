"""Attention within many short sequences: one program for a sequence and a head, everything in registers.

P sequences, T rows, L tokens of the longest sequence, d embedding size, H heads, D = d / H, W = 2 L - 1 signed
distances.

Sequences of two to five tokens are too short for matrix instructions: the scores of a head are a few dot products, so
the kernel's time is that of reading q, k, v once. The backward pass computes the weights again instead of reading them.

Relative positions (Shaw et al.) enter as two small tensors that ordinary matrix products make: `bias` (T, H, W), each
query's product with the key vector of every signed distance, is added to the scores; `shares` (T, H, W), the weight
that each token gives to every signed distance, comes out, to be multiplied with the value vectors.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from pathformer.nn.kernels.chance import keep

__all__ = ["attention", "relative_attention"]

WARPS = 1


def attention(
    qkv: Tensor, offsets: Tensor, longest: int, heads: int, causal: bool, rate: float, seed: Tensor | None
) -> Tensor:
    """qkv (T, 3d), offsets (P + 1,) -> (T, d)."""
    mixed: Tensor = _Attention.apply(qkv, None, offsets, longest, heads, causal, rate, seed)[0]
    return mixed


def relative_attention(
    qkv: Tensor,
    keys: Tensor,
    values: Tensor,
    offsets: Tensor,
    longest: int,
    heads: int,
    causal: bool,
    rate: float,
    seed: Tensor | None,
) -> Tensor:
    """As `attention`, with keys and values (W, D) of the signed distances -(L - 1) ... L - 1."""
    count, width = len(qkv), qkv.shape[1] // 3
    query = qkv[:, :width].reshape(count * heads, -1)
    bias = (query @ keys.t()).view(count, heads, -1)
    mixed: Tensor
    shares: Tensor
    mixed, shares = _Attention.apply(qkv, bias, offsets, longest, heads, causal, rate, seed)
    return mixed + (shares.view(count * heads, -1) @ values).view(count, width)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv, bias, offsets, longest, heads, causal, rate, seed):
        ctx.set_materialize_grads(False)
        qkv = qkv.contiguous()
        count, width = len(qkv), qkv.shape[1] // 3
        out = torch.empty(count, width, dtype=qkv.dtype, device=qkv.device)
        shares = None if bias is None else torch.zeros_like(bias)
        ctx.constants = _constants(width, longest, heads, causal, bias is not None, seed is not None)
        _attention_forward[(len(offsets) - 1, heads)](qkv, bias, offsets, out, shares, seed, rate, **ctx.constants)
        ctx.save_for_backward(qkv, bias, offsets, seed)
        ctx.rate, ctx.heads = rate, heads
        return out, shares

    @staticmethod
    def backward(ctx: Any, *grads):
        qkv, bias, offsets, seed = ctx.saved_tensors
        result = torch.empty_like(qkv)
        of_bias = None if bias is None else torch.zeros_like(bias)
        of_shares = None if grads[1] is None else grads[1].contiguous()
        _attention_backward[(len(offsets) - 1, ctx.heads)](
            qkv, bias, offsets, grads[0].contiguous(), of_shares, result, of_bias, seed, ctx.rate, **ctx.constants
        )
        return result, of_bias, None, None, None, None, None, None


def _constants(width, longest, heads, causal, relative, drop):
    size = width // heads
    return {
        "WIDTH": width, "HEADS": heads, "SIZE": size, "BLOCK": triton.next_power_of_2(size),
        "LENGTH": max(2, triton.next_power_of_2(longest)), "SPAN": longest, "CAUSAL": causal, "RELATIVE": relative,
        "DROP": drop, "num_warps": WARPS if longest <= 4 else 4,
    }  # fmt: skip


@triton.jit
def _weights(
    query, key, bias, at, token, count, seed, rate, row, head,
    HEADS: tl.constexpr, SIZE: tl.constexpr, LENGTH: tl.constexpr, SPAN: tl.constexpr, CAUSAL: tl.constexpr,
    RELATIVE: tl.constexpr, DROP: tl.constexpr,
):  # fmt: skip
    """Weights before dropout, and the factor that dropout puts on them: each (i, j)."""
    scores = tl.sum(query[:, None, :] * key[None, :, :], axis=2)
    seen = (token < count)[None, :] & (token < LENGTH)[:, None]
    if CAUSAL:
        seen = seen & (token[None, :] <= token[:, None])
    if RELATIVE:
        scores += tl.load(bias + at, mask=seen & (token < count)[:, None], other=0.0).to(tl.float32)
    scores = tl.where(seen, scores * (SIZE**-0.5), float("-inf"))
    weights = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    weights = weights / tl.sum(weights, axis=1)[:, None]
    factor = tl.full([LENGTH, LENGTH], 1.0, dtype=tl.float32)
    if DROP:
        place = ((row * HEADS + head) * LENGTH)[:, None] + token[None, :]
        factor = tl.where(keep(tl.load(seed), place, rate), 1.0 / (1.0 - rate), 0.0)
    return weights, factor


@triton.jit
def _attention_forward(
    qkv, bias, offsets, out, shares, seed, rate,
    WIDTH: tl.constexpr, HEADS: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr, LENGTH: tl.constexpr,
    SPAN: tl.constexpr, CAUSAL: tl.constexpr, RELATIVE: tl.constexpr, DROP: tl.constexpr,
):  # fmt: skip
    path, head = tl.program_id(0), tl.program_id(1)
    first = tl.load(offsets + path)
    count = tl.load(offsets + path + 1) - first
    token, column = tl.arange(0, LENGTH), tl.arange(0, BLOCK)
    row = first + token
    inside = (token < count)[:, None] & (column < SIZE)[None, :]
    place = row[:, None] * (3 * WIDTH) + head * SIZE + column[None, :]
    query = tl.load(qkv + place, mask=inside, other=0.0).to(tl.float32)
    key = tl.load(qkv + WIDTH + place, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(qkv + 2 * WIDTH + place, mask=inside, other=0.0).to(tl.float32)
    at = (row * HEADS + head)[:, None] * (2 * SPAN - 1) + token[None, :] - token[:, None] + SPAN - 1
    weights, factor = _weights(
        query, key, bias, at, token, count, seed, rate, row, head,
        HEADS, SIZE, LENGTH, SPAN, CAUSAL, RELATIVE, DROP,
    )  # fmt: skip
    weights *= factor
    mixed = tl.sum(weights[:, :, None] * value[None, :, :], axis=1)
    tl.store(out + row[:, None] * WIDTH + head * SIZE + column[None, :], mixed, mask=inside)
    if RELATIVE:
        tl.store(shares + at, weights, mask=(token < count)[:, None] & (token < count)[None, :])


@triton.jit
def _attention_backward(
    qkv, bias, offsets, of_out, of_shares, result, of_bias, seed, rate,
    WIDTH: tl.constexpr, HEADS: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr, LENGTH: tl.constexpr,
    SPAN: tl.constexpr, CAUSAL: tl.constexpr, RELATIVE: tl.constexpr, DROP: tl.constexpr,
):  # fmt: skip
    path, head = tl.program_id(0), tl.program_id(1)
    first = tl.load(offsets + path)
    count = tl.load(offsets + path + 1) - first
    token, column = tl.arange(0, LENGTH), tl.arange(0, BLOCK)
    row = first + token
    inside = (token < count)[:, None] & (column < SIZE)[None, :]
    place = row[:, None] * (3 * WIDTH) + head * SIZE + column[None, :]
    query = tl.load(qkv + place, mask=inside, other=0.0).to(tl.float32)
    key = tl.load(qkv + WIDTH + place, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(qkv + 2 * WIDTH + place, mask=inside, other=0.0).to(tl.float32)
    grad = tl.load(of_out + row[:, None] * WIDTH + head * SIZE + column[None, :], mask=inside, other=0.0).to(tl.float32)
    at = (row * HEADS + head)[:, None] * (2 * SPAN - 1) + token[None, :] - token[:, None] + SPAN - 1
    both = (token < count)[:, None] & (token < count)[None, :]
    weights, factor = _weights(
        query, key, bias, at, token, count, seed, rate, row, head,
        HEADS, SIZE, LENGTH, SPAN, CAUSAL, RELATIVE, DROP,
    )  # fmt: skip
    of_value = tl.sum((weights * factor)[:, :, None] * grad[:, None, :], axis=0)
    of_weights = tl.sum(grad[:, None, :] * value[None, :, :], axis=2)
    if RELATIVE:
        of_weights += tl.load(of_shares + at, mask=both, other=0.0).to(tl.float32)
    of_weights *= factor
    of_scores = weights * (of_weights - tl.sum(weights * of_weights, axis=1)[:, None]) * (SIZE**-0.5)
    of_query = tl.sum(of_scores[:, :, None] * key[None, :, :], axis=1)
    of_key = tl.sum(of_scores[:, :, None] * query[:, None, :], axis=0)
    tl.store(result + place, of_query, mask=inside)
    tl.store(result + WIDTH + place, of_key, mask=inside)
    tl.store(result + 2 * WIDTH + place, of_value, mask=inside)
    if RELATIVE:
        tl.store(of_bias + at, of_scores, mask=both)
