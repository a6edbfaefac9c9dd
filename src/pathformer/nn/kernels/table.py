"""Readings of a table whose gradient is written once: rows by id, and L1 distances to rows by id.

N rows, d columns, R readings of single rows in a pass, B points, K candidates each.

Every reading's backward pass notes its share of the table's gradient: a reading of rows, the gradients of those rows; a
reading by distance, the points and one coefficient a pair, since row e gets c sign(e - q) from a pair of distance
|q - e| whose gradient is c. When all are noted, the R ids are sorted, and one program a row sums the shares of its row
in registers and writes their sum, zero for a row that nobody read. There are no atomics and no (B, K, d)
tensor, and the same inputs always give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["TableGradient", "assemble", "l1_distance"]

_Share = tuple[Tensor, Tensor, Tensor]

PAIRS, PAIR_WARPS = 16, 4  # candidates a program of the distance kernels
TURN, TURN_WARPS = 4, 4  # candidates a loop turn of the kernel for the points' gradient
SHARES, SHARE_WARPS = 4, 4  # shares a loop turn of the kernel that adds them up


class TableGradient:
    """The shares of one table's gradient that one pass has noted so far."""

    def __init__(self) -> None:
        self.rows: list[_Share] = []  # ids (n,), gradients (m, d), row of each id in them (n,)
        self.pairs: list[_Share] = []  # ids (B, K), points (B, d), coefficients (B, K)

    def open(self, weight: Tensor) -> Tensor:
        """The table that readers must use: its own backward pass, after all of theirs, adds up the shares."""
        opened: Tensor = _Open.apply(weight, self)
        return opened

    def accumulate(self, weight: Tensor) -> Tensor | None:
        """Adds up all shares to the gradient of the table (N, d), and forgets them."""
        rows, pairs, self.rows, self.pairs = self.rows, self.pairs, [], []
        grad = None
        for place in range(max(len(rows), len(pairs))):  # one round, unless a table is read in several ways at once
            part = _accumulate(weight, rows[place : place + 1], pairs[place : place + 1])
            grad = part if grad is None else grad + part
        return grad


class _Open(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight, gradient):
        ctx.set_materialize_grads(False)
        ctx.gradient = gradient
        ctx.save_for_backward(weight)
        return weight.view_as(weight)

    @staticmethod
    def backward(ctx: Any, *grads):
        (weight,) = ctx.saved_tensors
        grad = ctx.gradient.accumulate(weight)
        if grads[0] is not None:  # somebody also used the weight in an ordinary way
            grad = grads[0] if grad is None else grad + grads[0]
        return grad, None


def assemble(
    parts: Sequence[tuple[Tensor, TableGradient, Tensor, Tensor]], others: tuple[Tensor, Tensor] | None, rows: int
) -> Tensor:
    """Puts rows of tables at their positions: parts: weight (N, d), gradient, ids (n,), places (n,) -> (rows, d)."""
    values, places = others if others is not None else (None, None)
    weights = [weight for weight, _, _, _ in parts]
    readings = [(gradient, ids, at) for _, gradient, ids, at in parts]
    assembled: Tensor = _Assemble.apply(readings, rows, values, places, *weights)
    return assembled


class _Assemble(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, readings, rows, values, places, *weights):
        width = weights[0].shape[1]
        out = torch.empty(rows, width, dtype=weights[0].dtype, device=weights[0].device)
        for (_, ids, at), weight in zip(readings, weights, strict=True):
            if len(ids):
                block = triton.next_power_of_2(width)
                _table_gather[(len(ids),)](weight, ids, at, out, WIDTH=width, BLOCK=block, num_warps=4)
        if values is not None:
            out.index_copy_(0, places, values)
        ctx.readings = readings
        ctx.save_for_backward(places)
        return out

    @staticmethod
    def backward(ctx: Any, *grads):
        (places,) = ctx.saved_tensors
        grad = grads[0].contiguous()
        for gradient, ids, at in ctx.readings:
            if len(ids):
                gradient.rows.append((ids, grad, at))
        of_values = None if places is None else grad.index_select(0, places)
        return None, None, of_values, None, *(None for _ in ctx.readings)


def l1_distance(points: Tensor, weight: Tensor, gradient: TableGradient, ids: Tensor) -> Tensor:
    """|q - e|_1 of each point and its own rows. points (B, d), weight (N, d), ids (B, K) -> (B, K) float32."""
    distances: Tensor = _Distance.apply(points.contiguous(), weight, gradient, ids.contiguous())
    return distances


class _Distance(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, points, weight, gradient, ids):
        count, width = ids.shape
        out = torch.empty(count, width, dtype=torch.float32, device=points.device)
        _table_distance[(count, triton.cdiv(width, PAIRS))](
            points, weight, ids, out, width, WIDTH=weight.shape[1], BLOCK=128, PAIRS=PAIRS, num_warps=PAIR_WARPS
        )
        ctx.save_for_backward(points, weight, ids)
        ctx.gradient = gradient
        return out

    @staticmethod
    def backward(ctx: Any, *grads):
        points, weight, ids = ctx.saved_tensors
        grad = grads[0].contiguous()
        ctx.gradient.pairs.append((ids, points, grad))
        out = torch.empty_like(points)
        block = triton.next_power_of_2(points.shape[1])
        _table_points[(len(points),)](
            points,
            weight,
            ids,
            grad,
            out,
            ids.shape[1],
            WIDTH=points.shape[1],
            BLOCK=block,
            TURN=TURN,
            num_warps=TURN_WARPS,
        )
        return out, None, None, None


def _accumulate(weight: Tensor, rows: Sequence[_Share], pairs: Sequence[_Share]) -> Tensor:
    """Adds up the gradient of a table (N, d) from at most one reading of rows and at most one of pairs."""
    ids = [part[0].flatten() for part in (*pairs, *rows)]
    keys, order = torch.sort(torch.cat(ids).to(torch.int32))
    bounds = torch.searchsorted(keys, torch.arange(len(weight) + 1, dtype=torch.int32, device=weight.device))
    _, points, coefficients = pairs[0] if pairs else (None, weight, weight)
    _, grads, places = rows[0] if rows else (None, weight, bounds)
    grad = torch.empty_like(weight)
    _table_write[(len(weight),)](
        weight, order, bounds, points, coefficients, grads, places, grad,
        ids[0].numel() if pairs else 0, coefficients.shape[1],
        WIDTH=weight.shape[1], BLOCK=triton.next_power_of_2(weight.shape[1]), SHARES=SHARES,
        HAS_PAIRS=bool(pairs), HAS_ROWS=bool(rows), num_warps=SHARE_WARPS,
    )  # fmt: skip
    return grad


@triton.jit
def _table_gather(weight, ids, places, out, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    row = tl.load(ids + tl.program_id(0)).to(tl.int64)
    place = tl.load(places + tl.program_id(0))
    value = tl.load(weight + row * WIDTH + column, mask=inside)
    tl.store(out + place * WIDTH + column, value, mask=inside)


@triton.jit
def _table_distance(points, weight, ids, out, count, WIDTH: tl.constexpr, BLOCK: tl.constexpr, PAIRS: tl.constexpr):
    point = tl.program_id(0)
    pair = tl.program_id(1) * PAIRS + tl.arange(0, PAIRS)
    row = tl.load(ids + point * count + pair, mask=pair < count, other=0).to(tl.int64)
    total = tl.zeros([PAIRS, BLOCK], dtype=tl.float32)
    for first in tl.static_range(0, WIDTH, BLOCK):
        column = first + tl.arange(0, BLOCK)
        inside = column < WIDTH
        value = tl.load(points + point * WIDTH + column, mask=inside, other=0.0).to(tl.float32)
        entity = tl.load(
            weight + row[:, None] * WIDTH + column[None, :], mask=(pair < count)[:, None] & inside[None, :], other=0.0
        ).to(tl.float32)
        total += tl.abs(value[None, :] - entity)
    tl.store(out + point * count + pair, tl.sum(total, axis=1), mask=pair < count)


@triton.jit
def _table_points(
    points, weight, ids, coefficients, out, count, WIDTH: tl.constexpr, BLOCK: tl.constexpr, TURN: tl.constexpr
):
    point = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    value = tl.load(points + point * WIDTH + column, mask=inside, other=0.0).to(tl.float32)[None, :]
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, count, TURN):
        pair = start + tl.arange(0, TURN)
        there = pair < count
        row = tl.load(ids + point * count + pair, mask=there, other=0).to(tl.int64)
        factor = tl.load(coefficients + point * count + pair, mask=there, other=0.0)[:, None]
        entity = tl.load(
            weight + row[:, None] * WIDTH + column[None, :], mask=there[:, None] & inside[None, :], other=0.0
        ).to(tl.float32)
        total += tl.sum(tl.where(value > entity, factor, tl.where(value < entity, -factor, 0.0)), axis=0)
    tl.store(out + point * WIDTH + column, total, mask=inside)


@triton.jit
def _table_write(
    weight, order, bounds, points, coefficients, grads, places, out, pairs, candidates,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, SHARES: tl.constexpr, HAS_PAIRS: tl.constexpr, HAS_ROWS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < WIDTH
    first, last = tl.load(bounds + row), tl.load(bounds + row + 1)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    if first < last:
        if HAS_PAIRS:
            entity = tl.load(weight + row * WIDTH + column, mask=inside, other=0.0).to(tl.float32)
        for start in range(first, last, SHARES):
            place = start + tl.arange(0, SHARES)
            share = tl.load(order + place, mask=place < last, other=0)
            if HAS_PAIRS:
                paired = (place < last) & (share < pairs)
                value = tl.load(
                    points + (share // candidates)[:, None] * WIDTH + column[None, :],
                    mask=paired[:, None] & inside[None, :], other=0.0,
                ).to(tl.float32)  # fmt: skip
                factor = tl.load(coefficients + share, mask=paired, other=0.0)[:, None]
                sign = tl.where(entity[None, :] > value, factor, tl.where(entity[None, :] < value, -factor, 0.0))
                total += tl.sum(sign, axis=0)
            if HAS_ROWS:
                owed = (place < last) & (share >= pairs)
                source = tl.load(places + share - pairs, mask=owed, other=0)
                value = tl.load(
                    grads + source[:, None] * WIDTH + column[None, :], mask=owed[:, None] & inside[None, :], other=0.0
                )
                total += tl.sum(value.to(tl.float32), axis=0)
    tl.store(out + row * WIDTH + column, total, mask=inside)
