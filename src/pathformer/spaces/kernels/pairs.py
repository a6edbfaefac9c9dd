"""Distances of queries and their own candidates, summed dimension by dimension without a (B, K, d) tensor.

B queries, K candidates each, N rows of a table, d columns.

    Dist(e, q) = sum_k f(x_k, y_k, e_k)        x, y: the query's parameters; e: the candidate's row

    box    x centre, y offset     f = relu(|e - x| - y) + 0.02 |min(|e - x|, y)|
    cone   x axis, y aperture     f as in `spaces.cone`, by sin(u +- h) = sin u cos h +- cos u sin h
    dot    x alone                f = x e

Three kernels: one program a query and some candidates adds the distances; one a query adds its own gradient over its
candidates; one a row of the table adds the row's gradient over the pairs that name it, found by sorting the ids. No
atomics: the same inputs give the same bits. Sums are float32.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["Kind", "every_distance", "pair_distance"]

Kind = Literal["box", "cone", "dot"]
_KINDS = {"box": 0, "cone": 1, "dot": 2}

PAIRS, PAIR_WARPS = 16, 4  # candidates a program of the distance kernel
SHARES, SHARE_WARPS = 2, 4  # pairs a loop turn of the table's gradient


def pair_distance(queries: Tensor, table: Tensor, ids: Tensor, kind: Kind) -> Tensor:
    """Distances to candidates: queries (B, 2d), or (B, d) for `dot`; table (N, d); ids (B, K) -> (B, K) float32."""
    found: Tensor = _Pairs.apply(queries.contiguous(), table.contiguous(), ids.contiguous(), _KINDS[kind])
    return found


def every_distance(queries: Tensor, table: Tensor, kind: Kind) -> Tensor:
    """Distances of every query to every row: (B, 2d), or (B, d) for `dot`, and (N, d) -> (B, N) float32."""
    rows = torch.arange(len(table), dtype=torch.int32, device=table.device)
    return pair_distance(queries, table, rows.expand(len(queries), -1), kind)


class _Pairs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, queries, table, ids, kind):
        count, candidates = ids.shape
        out = torch.empty(count, candidates, dtype=torch.float32, device=queries.device)
        _pairs_distance[(count * triton.cdiv(candidates, PAIRS),)](
            queries, table, ids, out, candidates,
            KIND=kind, WIDTH=table.shape[1], STRIDE=queries.shape[1], BLOCK=128, PAIRS=PAIRS, num_warps=PAIR_WARPS,
        )  # fmt: skip
        ctx.save_for_backward(queries, table, ids)
        ctx.kind = kind
        return out

    @staticmethod
    def backward(ctx: Any, *grads):
        queries, table, ids = ctx.saved_tensors
        coefficients, candidates = grads[0].contiguous(), ids.shape[1]
        block = triton.next_power_of_2(table.shape[1])
        sizes = {"KIND": ctx.kind, "WIDTH": table.shape[1], "STRIDE": queries.shape[1], "BLOCK": block}
        of_queries = torch.empty_like(queries)
        _pairs_queries[(len(queries),)](queries, table, ids, coefficients, of_queries, candidates, **sizes, num_warps=4)
        keys, order = torch.sort(ids.flatten().to(torch.int32))
        bounds = torch.searchsorted(keys, torch.arange(len(table) + 1, dtype=torch.int32, device=table.device))
        of_table = torch.empty_like(table)
        _pairs_table[(len(table),)](
            queries, table, order, bounds, coefficients, of_table, candidates, **sizes, SHARES=SHARES,
            num_warps=SHARE_WARPS,
        )  # fmt: skip
        return of_queries, of_table, None, None


@triton.jit
def _pairs_turn(angle):
    """sin and cos of angles in [-pi, pi], to 1e-6: series of the half angle, where those for any angle would spill."""
    half = angle * 0.5
    square = half * half
    sine = -2.50521084e-8 * square + 2.75573192e-6
    sine = (sine * square - 1.98412698e-4) * square + 8.33333333e-3
    sine = half * ((sine * square - 1.66666667e-1) * square + 1.0)
    cosine = 2.08767570e-9 * square - 2.75573192e-7
    cosine = (cosine * square + 2.48015873e-5) * square - 1.38888889e-3
    cosine = ((cosine * square + 4.16666667e-2) * square - 0.5) * square + 1.0
    return 2.0 * sine * cosine, 1.0 - 2.0 * sine * sine


@triton.jit
def _pairs_terms(x, y, e, KIND: tl.constexpr):
    """Computes f, and its slopes by x, y and e."""
    if KIND == 0:
        away, side = tl.abs(e - x), tl.where(e > x, 1.0, tl.where(e < x, -1.0, 0.0))
        outside = away > y
        least = tl.minimum(away, y)
        value = tl.maximum(away - y, 0.0) + 0.02 * tl.abs(least)
        by_e = side * tl.where(outside, 1.0, 0.02)
        by_y = tl.where(outside, tl.where(y > 0.0, 0.02, tl.where(y < 0.0, -0.02, 0.0)) - 1.0, 0.0)
        by_x = -by_e
    elif KIND == 1:
        u, h = (e - x) * 0.5, y * 0.5
        sin_u, cos_u = _pairs_turn(u)
        sin_h, cos_h = _pairs_turn(h)
        left, right = sin_u * cos_h, cos_u * sin_h
        inside = tl.abs(sin_u) < tl.abs(sin_h)
        way = tl.where(left * right < 0.0, 1.0, -1.0)  # the nearer edge is u + way h
        edge = left + way * right  # sin(u + way h)
        slope = (cos_u * cos_h - way * sin_u * sin_h) * tl.where(edge < 0.0, -0.5, 0.5)
        of_u, of_h = tl.where(sin_u < 0.0, -0.5, 0.5) * cos_u, tl.where(sin_h < 0.0, -0.5, 0.5) * cos_h
        value = tl.where(inside, 0.02 * tl.abs(sin_u), tl.abs(edge) + 0.02 * tl.abs(sin_h))
        by_e = tl.where(inside, 0.02 * of_u, slope)
        by_y = tl.where(inside, 0.0, way * slope + 0.02 * of_h)
        by_x = -by_e
    else:
        value, by_x, by_y, by_e = x * e, e, tl.zeros_like(x * e), x + tl.zeros_like(e)
    return value, by_x, by_y, by_e


@triton.jit
def _pairs_distance(
    queries, table, ids, out, count,
    KIND: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, BLOCK: tl.constexpr, PAIRS: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(count, PAIRS)
    query = (tl.program_id(0) // blocks).to(tl.int64)
    pair = (tl.program_id(0) % blocks) * PAIRS + tl.arange(0, PAIRS)
    row = tl.load(ids + query * count + pair, mask=pair < count, other=0).to(tl.int64)
    total = tl.zeros([PAIRS, BLOCK], dtype=tl.float32)
    for first in tl.static_range(0, WIDTH, BLOCK):
        column = first + tl.arange(0, BLOCK)
        inside = column < WIDTH
        x = tl.load(queries + query * STRIDE + column, mask=inside, other=0.0).to(tl.float32)
        y = tl.load(queries + query * STRIDE + STRIDE - WIDTH + column, mask=inside, other=0.0).to(tl.float32)
        e = tl.load(
            table + row[:, None] * WIDTH + column[None, :], mask=(pair < count)[:, None] & inside[None, :], other=0.0
        ).to(tl.float32)
        value, _, _, _ = _pairs_terms(x[None, :], y[None, :], e, KIND)
        total += tl.where(inside[None, :], value, 0.0)
    tl.store(out + query * count + pair, tl.sum(total, axis=1), mask=pair < count)


@triton.jit
def _pairs_queries(
    queries, table, ids, coefficients, out, count,
    KIND: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    query = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    x = tl.load(queries + query * STRIDE + column, mask=inside, other=0.0).to(tl.float32)
    y = tl.load(queries + query * STRIDE + STRIDE - WIDTH + column, mask=inside, other=0.0).to(tl.float32)
    total_x = tl.zeros([BLOCK], dtype=tl.float32)
    total_y = tl.zeros([BLOCK], dtype=tl.float32)
    for pair in range(count):
        row = tl.load(ids + query * count + pair).to(tl.int64)
        factor = tl.load(coefficients + query * count + pair)
        e = tl.load(table + row * WIDTH + column, mask=inside, other=0.0).to(tl.float32)
        _, by_x, by_y, _ = _pairs_terms(x, y, e, KIND)
        total_x += factor * by_x
        total_y += factor * by_y
    tl.store(out + query * STRIDE + column, total_x, mask=inside)
    if STRIDE > WIDTH:
        tl.store(out + query * STRIDE + WIDTH + column, total_y, mask=inside)


@triton.jit
def _pairs_table(
    queries, table, order, bounds, coefficients, out, candidates,
    KIND: tl.constexpr, WIDTH: tl.constexpr, STRIDE: tl.constexpr, BLOCK: tl.constexpr, SHARES: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    first, last = tl.load(bounds + row), tl.load(bounds + row + 1)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    if first < last:
        e = tl.load(table + row * WIDTH + column, mask=inside, other=0.0).to(tl.float32)
        for start in range(first, last, SHARES):
            place = start + tl.arange(0, SHARES)
            share = tl.load(order + place, mask=place < last, other=0)
            factor = tl.load(coefficients + share, mask=place < last, other=0.0)[:, None]
            at = queries + (share // candidates)[:, None] * STRIDE + column[None, :]
            owed = (place < last)[:, None] & inside[None, :]
            x = tl.load(at, mask=owed, other=0.0).to(tl.float32)
            y = tl.load(at + STRIDE - WIDTH, mask=owed, other=0.0).to(tl.float32)
            _, _, _, by_e = _pairs_terms(x, y, e[None, :], KIND)
            total += tl.sum(factor * by_e, axis=0)
    tl.store(out + row * WIDTH + column, total, mask=inside)
