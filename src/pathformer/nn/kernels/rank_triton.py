"""Ranking on a CUDA device: L1 distances of every (point, entity) pair, and counting against thresholds.

R points, N entities, D dimensions, A thresholds.

The distance kernel has nothing but additions in it (a subtraction, and an addition of an absolute value), so its
floor is the card's rate of plain float32 instructions, not of fused ones: 2 R N D over multiprocessors x 128 x clock.
Each thread keeps 8 x 8 sums in registers and reads 8 + 8 numbers for 128 additions. The tile is four-dimensional, (8,
8, 16, 16): the last two axes are laid out over the 256 threads, which leaves the first two to each thread's
registers; written as (128, 128), the compiler gives a thread 64 rows of one column and 65 reads for the same 128
additions. Each sum runs over the dimensions in order, in float32: every other path of `l1_rank` adds in this order,
so all give the same bits.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["ROWS_MULTIPLE", "count_below", "l1_distances", "transposed"]

_SIDE, _LANES, _UNROLL = 8, 16, 4  # sums a thread and axis, threads an axis, dimensions a loop turn
_TILE = _SIDE * _LANES
ROWS_MULTIPLE = _TILE  # a chunk of this many points, or a multiple, leaves no tile half empty


def transposed(table: Tensor) -> Tensor:
    """A table (N, D) as float32 (D', N'), both padded with zeros: to whole loop turns and whole tiles."""
    rows, width = table.shape
    out = torch.zeros(_up(width, _UNROLL), _up(rows, _TILE), device=table.device)
    out[:width, :rows].copy_(table.t())
    return out


def l1_distances(points: Tensor, entities: Tensor, count: int) -> Tensor:
    """|p - e|_1 of points (R, D) and a `transposed` table of `count` entities: (R, count), rows may be strided."""
    queries = transposed(points)
    depth, rows, columns = queries.shape[0], queries.shape[1], entities.shape[1]
    out = torch.empty(rows, columns, device=points.device)
    grid = (rows // _TILE, columns // _TILE)  # neighbours in a wave share the entities and keep the points in L2
    _l1_tile[grid](queries, entities, out, depth, rows, columns, _SIDE, _LANES, _UNROLL, num_warps=8)
    return out[: len(points), :count]


def count_below(distances: Tensor, rows: Tensor, thresholds: Tensor) -> tuple[Tensor, Tensor]:
    """How many entries of its row lie below a threshold, and how many are equal to it; NaN entries are neither.

    distances (Q, N); rows (A,) ascending row of each threshold; thresholds (A,); returns two int32 (A,).
    """
    closer = torch.empty(len(thresholds), dtype=torch.int32, device=distances.device)
    tied = torch.empty_like(closer)
    width = 16 if len(thresholds) > 4 * len(distances) else 4  # thresholds a program, near what a row has
    row, first, last = _tasks(rows, len(distances), width)
    if len(row):
        _count_rows[(len(row),)](
            distances, distances.stride(0), distances.shape[1], row, first, last, thresholds, closer, tied, width, 256
        )
    return closer, tied


def _tasks(rows: Tensor, count: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Cut each row's thresholds into runs of `width`: the row of each run, its first threshold, the row's last one."""
    counts = torch.bincount(rows, minlength=count)
    ends, runs = counts.cumsum(0), (counts + width - 1) // width
    row = torch.repeat_interleave(runs)
    place = torch.arange(len(row), device=row.device) - (runs.cumsum(0) - runs)[row]  # which run of its row
    return row, (ends - counts)[row] + width * place, ends[row]


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


@triton.jit
def _l1_tile(
    points, entities, out, depth, rows, columns, side: tl.constexpr, lanes: tl.constexpr, unroll: tl.constexpr
):
    place = tl.arange(0, side)[:, None] * lanes + tl.arange(0, lanes)[None, :]  # (8, 16)
    row = tl.program_id(0) * (side * lanes) + place
    column = tl.program_id(1) * (side * lanes) + place
    point, entity = points + row, entities + column
    total = tl.zeros((side, side, lanes, lanes), tl.float32)
    for _ in range(0, depth, unroll):
        for step in tl.static_range(unroll):
            p = tl.load(point + step * rows)
            e = tl.load(entity + step * columns)
            total += tl.abs(p[:, None, :, None] - e[None, :, None, :])
        point += unroll * rows
        entity += unroll * columns
    tl.store(out + row.to(tl.int64)[:, None, :, None] * columns + column[None, :, None, :], total)


@triton.jit
def _count_rows(
    distances, stride, columns, task_row, task_first, task_last, thresholds, closer, tied,
    width: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    task = tl.program_id(0)
    row = distances + tl.load(task_row + task) * stride
    place = tl.load(task_first + task) + tl.arange(0, width)
    mine = place < tl.load(task_last + task)
    threshold = tl.load(thresholds + place, mask=mine, other=0.0)[:, None]
    below = tl.zeros((width, block), tl.int32)
    equal = tl.zeros((width, block), tl.int32)
    for start in range(0, columns, block):
        column = start + tl.arange(0, block)
        distance = tl.load(row + column, mask=column < columns, other=float("nan"))[None, :]
        below += (distance < threshold).to(tl.int32)
        equal += (distance == threshold).to(tl.int32)
    tl.store(closer + place, tl.sum(below, 1), mask=mine)
    tl.store(tied + place, tl.sum(equal, 1), mask=mine)
