"""Ranking on a CUDA device: L1 distances of every (point, entity) pair, and counting against thresholds.

R points, N entities, D dimensions, A thresholds.

The distance kernel has nothing but additions in it (a subtraction, and an addition of an absolute value), so its
floor is the card's rate of plain float32 instructions, not of fused ones: 2 R N D over multiprocessors x 128 x clock.
Each thread keeps 8 x 8 sums in registers and reads 8 + 8 numbers for 128 additions. Two choices leave the inner loop
with those and nothing else:

- The tile is four-dimensional, (8, 8, 16, 16): its last two axes are laid out over the 256 threads, which leaves the
  first two to each thread's registers. Written as (128, 128), a thread gets 64 rows of one column, and 65 reads.
- Points and entities lie in tiles of 128, dimension by dimension, so that every address is a base and a constant.

Each sum runs over the dimensions in order, in float32: every other path of `l1_rank` adds in this order, so all give
the same bits.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["count_below", "l1_distances", "lay_out"]

_SIDE, _LANES, _UNROLL = 8, 16, 8  # sums a thread and axis, threads an axis, dimensions a loop turn
_TILE = _SIDE * _LANES
_REGISTERS = 128  # a thread: two blocks of 256 threads share a multiprocessor


def lay_out(table: Tensor) -> Tensor:
    """Lays out a table (N, D) as float32 tiles (ceil(N / 128), D', 128), padded to whole tiles and loop turns."""
    rows, width = table.shape
    padded = torch.zeros(_up(rows, _TILE), _up(width, _UNROLL), device=table.device)
    padded[:rows, :width] = table
    return padded.view(-1, _TILE, padded.shape[1]).transpose(1, 2).contiguous()


def l1_distances(points: Tensor, entities: Tensor, count: int) -> Tensor:
    """|p - e|_1 of points (R, D) and a laid-out table of `count` entities: (R, count), rows may be strided."""
    queries = lay_out(points)
    rows, columns = _TILE * len(queries), _TILE * len(entities)
    out = torch.empty(rows, columns, device=points.device)
    grid = (len(queries), len(entities))  # neighbours in a wave share the entities and keep the points in L2
    _l1_tile[grid](
        queries, entities, out, queries.shape[1], columns, _SIDE, _LANES, _UNROLL, num_warps=8, maxnreg=_REGISTERS
    )
    return out[: len(points), :count]


def count_below(distances: Tensor, rows: Tensor, thresholds: Tensor) -> tuple[Tensor, Tensor]:
    """Counts the entries of a row that lie below a threshold, and those equal to it; NaN entries are neither.

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
    """Cuts each row's thresholds into runs of `width`: the row of each run, its first threshold, the row's last one."""
    counts = torch.bincount(rows, minlength=count)
    ends, runs = counts.cumsum(0), (counts + width - 1) // width
    row = torch.repeat_interleave(runs)
    place = torch.arange(len(row), device=row.device) - (runs.cumsum(0) - runs)[row]  # which run of its row
    return row, (ends - counts)[row] + width * place, ends[row]


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


@triton.jit
def _l1_tile(points, entities, out, depth, columns, side: tl.constexpr, lanes: tl.constexpr, unroll: tl.constexpr):
    tile: tl.constexpr = side * lanes
    place = tl.arange(0, side)[:, None] * lanes + tl.arange(0, lanes)[None, :]  # (8, 16)
    point = points + tl.program_id(0).to(tl.int64) * depth * tile + place
    entity = entities + tl.program_id(1).to(tl.int64) * depth * tile + place
    total = tl.zeros((side, side, lanes, lanes), tl.float32)
    for _ in range(0, depth, unroll):
        for step in tl.static_range(unroll):
            p = tl.load(point + step * tile)
            e = tl.load(entity + step * tile)
            total += tl.abs(p[:, None, :, None] - e[None, :, None, :])
        point += unroll * tile
        entity += unroll * tile
    row = (tl.program_id(0) * tile + place).to(tl.int64)[:, None, :, None]
    column = (tl.program_id(1) * tile + place)[None, :, None, :]
    tl.store(out + row * columns + column, total)


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
