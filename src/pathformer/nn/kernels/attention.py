"""Attention within many short sequences: a program takes a few sequences and one head, everything in registers.

P sequences, T rows, L tokens of the longest sequence, d embedding size, H heads, D = d / H, W = 2 L - 1 signed
distances.

Sequences of two to five tokens are too short for matrix instructions: the scores of a head are a few dot products, so
the kernel's time is that of reading q, k, v once. The backward pass computes the weights again instead of reading them.
Sequences come longest first, and are launched in classes of up to 1, 2, 4, 8, 16 tokens, so that the many short ones do
not do the work of the long ones. The bias of the map that made q, k, v is added here, because its gradient, a sum over
all rows, falls out of the backward pass here.

Relative positions (Shaw et al.) enter as two small tensors that ordinary matrix products make: `near` (T, H, W), each
query's product with the key vector of every signed distance, is added to the scores; `shares` (T, H, W), the weight
that each token gives to every signed distance, comes out, to be multiplied with the value vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from pathformer.nn.kernels.common import column_sums, keep

__all__ = ["attention", "relative_attention"]

PATHS = {1: 4, 2: 2, 4: 1, 8: 1, 16: 1}  # sequences a program and loop turn, by class
WARPS = {1: 1, 2: 1, 4: 1, 8: 4, 16: 8}
BACK_PATHS = {1: 4, 2: 2, 4: 1, 8: 1, 16: 1}
BACK_WARPS = {1: 1, 2: 1, 4: 2, 8: 4, 16: 8}
PROGRAMS = 264  # a head and class in the backward pass, each with every 264th turn

Class = tuple[int, int, int]  # first sequence, number of sequences, tokens (a power of two)


def attention(
    qkv: Tensor,
    bias: Tensor | None,
    offsets: Tensor,
    classes: Sequence[Class],
    heads: int,
    causal: bool,
    rate: float,
    seed: Tensor | None,
) -> Tensor:
    """Attention within sequences: qkv (T, 3d), bias (3d,), offsets (P + 1,) -> (T, d)."""
    mixed: Tensor = _Attention.apply(qkv, bias, None, offsets, classes, 1, heads, causal, rate, seed)[0]
    return mixed


def relative_attention(
    qkv: Tensor,
    bias: Tensor | None,
    keys: Tensor,
    values: Tensor,
    offsets: Tensor,
    classes: Sequence[Class],
    heads: int,
    causal: bool,
    rate: float,
    seed: Tensor | None,
) -> Tensor:
    """`attention` with keys and values (W, D) of the signed distances -(L - 1) ... L - 1."""
    count, width = len(qkv), qkv.shape[1] // 3
    query = qkv[:, :width] if bias is None else qkv[:, :width] + bias[:width]
    near = (query.reshape(count * heads, -1) @ keys.t()).view(count, heads, -1)
    mixed: Tensor
    shares: Tensor
    span = (len(keys) + 1) // 2
    mixed, shares = _Attention.apply(qkv, bias, near, offsets, classes, span, heads, causal, rate, seed)
    return mixed + (shares.view(count * heads, -1) @ values).view(count, width)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv, bias, near, offsets, classes, span, heads, causal, rate, seed):
        ctx.set_materialize_grads(False)
        qkv = qkv.contiguous()
        count, width = len(qkv), qkv.shape[1] // 3
        size = width // heads
        out = torch.empty(count, width, dtype=qkv.dtype, device=qkv.device)
        shares = None if near is None else torch.zeros_like(near)
        ctx.constants = {
            "WIDTH": width, "HEADS": heads, "SIZE": size, "BLOCK": triton.next_power_of_2(size), "SPAN": span,
            "CAUSAL": causal, "BIAS": bias is not None, "RELATIVE": near is not None, "DROP": seed is not None,
        }  # fmt: skip
        for first, number, length in classes:
            _attention_forward[(triton.cdiv(number, PATHS[length]), heads)](
                qkv, bias, near, offsets, out, shares, seed, rate, first, first + number,
                LENGTH=length, PATHS=PATHS[length], num_warps=WARPS[length], **ctx.constants,
            )  # fmt: skip
        ctx.save_for_backward(qkv, bias, near, offsets, seed)
        ctx.rate, ctx.heads, ctx.classes = rate, heads, classes
        return out, shares

    @staticmethod
    def backward(ctx: Any, *grads):
        qkv, bias, near, offsets, seed = ctx.saved_tensors
        result, of_out = torch.empty_like(qkv), grads[0].contiguous()
        of_near = None if near is None else torch.zeros_like(near)
        of_shares = None if grads[1] is None else grads[1].contiguous()
        programs = [min(PROGRAMS, triton.cdiv(number, BACK_PATHS[length])) for _, number, length in ctx.classes]
        sums = torch.empty(sum(programs), qkv.shape[1], dtype=torch.float32, device=qkv.device)
        done = 0
        for (first, number, length), count in zip(ctx.classes, programs, strict=True):
            _attention_backward[(count, ctx.heads)](
                qkv, bias, near, offsets, of_out, of_shares, result, of_near, sums[done:], seed,
                ctx.rate, first, first + number,
                LENGTH=length, PATHS=BACK_PATHS[length], num_warps=BACK_WARPS[length], **ctx.constants,
            )  # fmt: skip
            done += count
        of_bias = None if bias is None else column_sums(sums, bias.dtype)
        return result, of_bias, of_near, None, None, None, None, None, None, None


@triton.jit
def _rows(
    qkv, bias, offsets, path, last, head,
    WIDTH: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr, LENGTH: tl.constexpr, BIAS: tl.constexpr,
):  # fmt: skip
    """Loads q, k, v of some sequences and one head (p, i, D), their rows and a mask of those that exist."""
    there = path < last
    first = tl.load(offsets + path, mask=there, other=0)
    count = tl.load(offsets + path + 1, mask=there, other=0) - first
    token, column = tl.arange(0, LENGTH), tl.arange(0, BLOCK)
    row = first[:, None] + token[None, :]
    own = token[None, :] < count[:, None]
    inside = own[:, :, None] & (column < SIZE)[None, None, :]
    place = row[:, :, None] * (3 * WIDTH) + head * SIZE + column[None, None, :]
    query = tl.load(qkv + place, mask=inside, other=0.0).to(tl.float32)
    key = tl.load(qkv + WIDTH + place, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(qkv + 2 * WIDTH + place, mask=inside, other=0.0).to(tl.float32)
    if BIAS:
        part = bias + head * SIZE + column
        query += tl.load(part, mask=column < SIZE, other=0.0).to(tl.float32)[None, None, :]
        key += tl.load(part + WIDTH, mask=column < SIZE, other=0.0).to(tl.float32)[None, None, :]
        value += tl.load(part + 2 * WIDTH, mask=column < SIZE, other=0.0).to(tl.float32)[None, None, :]
    return query, key, value, row, own, inside, place


@triton.jit
def _weights(
    query, key, near, at, row, own, seed, rate, head,
    HEADS: tl.constexpr, SIZE: tl.constexpr, LENGTH: tl.constexpr, CAUSAL: tl.constexpr, RELATIVE: tl.constexpr,
    DROP: tl.constexpr,
):  # fmt: skip
    """Computes weights before dropout, and the factors of dropout: each (p, i, j)."""
    token = tl.arange(0, LENGTH)
    scores = tl.sum(query[:, :, None, :] * key[:, None, :, :], axis=3)
    # The first token counts as seen even where there is no sequence: what is thrown away stays finite.
    seen = (own | (token == 0)[None, :])[:, None, :]
    if CAUSAL:
        seen = seen & (token[None, :] <= token[:, None])[None, :, :]
    if RELATIVE:
        scores += tl.load(near + at, mask=own[:, :, None] & own[:, None, :], other=0.0).to(tl.float32)
    scores = tl.where(seen, scores * (SIZE**-0.5), float("-inf"))
    weights = tl.exp(scores - tl.max(scores, axis=2)[:, :, None])
    weights = weights / tl.sum(weights, axis=2)[:, :, None]
    factor = tl.full(weights.shape, 1.0, dtype=tl.float32)
    if DROP:
        place = ((row * HEADS + head) * 16)[:, :, None] + token[None, None, :]
        factor = tl.where(keep(tl.load(seed), place, rate), 1.0 / (1.0 - rate), 0.0)
    return weights, factor


@triton.jit
def _attention_forward(
    qkv, bias, near, offsets, out, shares, seed, rate, first, last,
    WIDTH: tl.constexpr, HEADS: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr, SPAN: tl.constexpr,
    CAUSAL: tl.constexpr, BIAS: tl.constexpr, RELATIVE: tl.constexpr, DROP: tl.constexpr, LENGTH: tl.constexpr,
    PATHS: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    path = first + tl.program_id(0) * PATHS + tl.arange(0, PATHS)
    query, key, value, row, own, inside, _ = _rows(
        qkv, bias, offsets, path, last, head, WIDTH, SIZE, BLOCK, LENGTH, BIAS
    )
    token, column = tl.arange(0, LENGTH), tl.arange(0, BLOCK)
    apart = (token[None, :] - token[:, None])[None, :, :]
    at = (row * HEADS + head)[:, :, None] * (2 * SPAN - 1) + apart + SPAN - 1
    weights, factor = _weights(
        query, key, near, at, row, own, seed, rate, head, HEADS, SIZE, LENGTH, CAUSAL, RELATIVE, DROP
    )
    weights *= factor
    mixed = tl.sum(weights[:, :, :, None] * value[:, None, :, :], axis=2)
    tl.store(out + row[:, :, None] * WIDTH + head * SIZE + column[None, None, :], mixed, mask=inside)
    if RELATIVE:
        tl.store(shares + at, weights, mask=own[:, :, None] & own[:, None, :])


@triton.jit
def _attention_backward(
    qkv, bias, near, offsets, of_out, of_shares, result, of_near, sums, seed, rate, first, last,
    WIDTH: tl.constexpr, HEADS: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr, SPAN: tl.constexpr,
    CAUSAL: tl.constexpr, BIAS: tl.constexpr, RELATIVE: tl.constexpr, DROP: tl.constexpr, LENGTH: tl.constexpr,
    PATHS: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    token, column = tl.arange(0, LENGTH), tl.arange(0, BLOCK)
    apart = (token[None, :] - token[:, None])[None, :, :]
    sum_query = tl.zeros([BLOCK], dtype=tl.float32)
    sum_key = tl.zeros([BLOCK], dtype=tl.float32)
    sum_value = tl.zeros([BLOCK], dtype=tl.float32)
    for turn in range(first + tl.program_id(0) * PATHS, last, tl.num_programs(0) * PATHS):
        path = turn + tl.arange(0, PATHS)
        query, key, value, row, own, inside, place = _rows(
            qkv, bias, offsets, path, last, head, WIDTH, SIZE, BLOCK, LENGTH, BIAS
        )
        source = of_out + row[:, :, None] * WIDTH + head * SIZE + column[None, None, :]
        grad = tl.load(source, mask=inside, other=0.0).to(tl.float32)
        at = (row * HEADS + head)[:, :, None] * (2 * SPAN - 1) + apart + SPAN - 1
        both = own[:, :, None] & own[:, None, :]
        weights, factor = _weights(
            query, key, near, at, row, own, seed, rate, head, HEADS, SIZE, LENGTH, CAUSAL, RELATIVE, DROP
        )
        of_value = tl.sum((weights * factor)[:, :, :, None] * grad[:, :, None, :], axis=1)
        of_weights = tl.sum(grad[:, :, None, :] * value[:, None, :, :], axis=3)
        if RELATIVE:
            of_weights += tl.load(of_shares + at, mask=both, other=0.0).to(tl.float32)
        of_weights *= factor
        of_scores = weights * (of_weights - tl.sum(weights * of_weights, axis=2)[:, :, None]) * (SIZE**-0.5)
        of_query = tl.sum(of_scores[:, :, :, None] * key[:, None, :, :], axis=2)
        of_key = tl.sum(of_scores[:, :, :, None] * query[:, :, None, :], axis=1)
        tl.store(result + place, of_query, mask=inside)
        tl.store(result + WIDTH + place, of_key, mask=inside)
        tl.store(result + 2 * WIDTH + place, of_value, mask=inside)
        if RELATIVE:
            tl.store(of_near + at, of_scores, mask=both)
        if BIAS:
            sum_query += tl.sum(tl.sum(of_query, axis=0), axis=0)
            sum_key += tl.sum(tl.sum(of_key, axis=0), axis=0)
            sum_value += tl.sum(tl.sum(of_value, axis=0), axis=0)
    if BIAS:
        base = sums + tl.program_id(0) * (3 * WIDTH) + head * SIZE + column
        tl.store(base, sum_query, mask=column < SIZE)
        tl.store(base + WIDTH, sum_key, mask=column < SIZE)
        tl.store(base + 2 * WIDTH, sum_value, mask=column < SIZE)
