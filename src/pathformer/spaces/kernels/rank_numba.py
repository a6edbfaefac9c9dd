"""Ranking on the processor: L1 distances of every (point, entity) pair, and counting against thresholds.

R points, N entities, D dimensions, A thresholds.

Sixteen times the speed of `torch.cdist(p=1)` (20 against 1.2 G terms a second and core, D = 800, measured on one core
of an AMD EPYC): entities lie transposed in blocks that stay in the first-level cache while four points pass over
them. Each sum runs over the dimensions in order, in float32, so the result has the same bits on every device.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from pathformer.compiled import compiled

__all__ = ["count_below", "l1_distances", "lay_out"]

_BLOCK = 512  # entities a block: 2 kB a dimension
_POINTS = 4  # points that share one reading of a block


def lay_out(table: Tensor) -> Tensor:
    """Lays out a table (N, D) as float32 blocks (ceil(N / 512), D, 512), the last one padded with zeros."""
    rows, width = table.shape
    blocks = -(-rows // _BLOCK)
    padded = torch.zeros(blocks * _BLOCK, width)
    padded[:rows] = table
    return padded.view(blocks, _BLOCK, width).transpose(1, 2).contiguous()


def l1_distances(points: Tensor, blocks: Tensor, count: int) -> Tensor:
    """|p - e|_1 of points (R, D) and a laid-out table of `count` entities: (R, count)."""
    rows = -(-len(points) // _POINTS) * _POINTS
    padded = np.zeros((rows, points.shape[1]), np.float32)
    padded[: len(points)] = points.numpy()
    out = np.empty((rows, count), np.float32)
    _share(lambda part: _l1_rows(padded[part], blocks.numpy(), out[part]), rows, _POINTS)
    return torch.from_numpy(out[: len(points)])


def count_below(distances: Tensor, rows: Tensor, thresholds: Tensor) -> tuple[Tensor, Tensor]:
    """Counts the entries of a row that lie below a threshold, and those equal to it; NaN entries are neither.

    distances (Q, N); rows (A,) ascending row of each threshold; thresholds (A,); returns two int32 (A,).
    """
    closer, tied = np.zeros((2, len(thresholds)), np.int32)
    bounds = np.searchsorted(rows.numpy(), np.arange(len(distances) + 1))
    arrays = distances.numpy(), thresholds.numpy()
    _share(lambda part: _count_rows(*arrays, bounds, part.start, part.stop, closer, tied), len(distances), 1)
    return torch.from_numpy(closer), torch.from_numpy(tied)


def _share(work: Callable[[slice], None], rows: int, multiple: int) -> None:
    """Gives each of torch's threads one contiguous part of the rows."""
    threads = torch.get_num_threads()
    size = max(multiple, -(-rows // (threads * multiple)) * multiple)
    parts = [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
    if len(parts) < 2:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, parts))


@compiled
def _l1_rows(points, blocks, out):
    rows, count = out.shape
    width = points.shape[1]
    size = blocks.shape[2]
    sums = np.empty((4, size), np.float32)
    a, b, c, d = sums[0], sums[1], sums[2], sums[3]
    for block in range(len(blocks)):
        start = block * size
        used = min(size, count - start)
        for row in range(0, rows, 4):
            sums[:] = 0
            for k in range(width):
                pa, pb, pc, pd = points[row, k], points[row + 1, k], points[row + 2, k], points[row + 3, k]
                entities = blocks[block, k]
                for n in range(size):
                    e = entities[n]
                    a[n] += abs(pa - e)
                    b[n] += abs(pb - e)
                    c[n] += abs(pc - e)
                    d[n] += abs(pd - e)
            out[row : row + 4, start : start + used] = sums[:, :used]


@compiled
def _count_rows(distances, thresholds, bounds, first, last, closer, tied):
    """Compares every entry with every threshold: vectorised, faster than a search in sorted thresholds."""
    for row in range(first, last):
        entries = distances[row]
        for position in range(bounds[row], bounds[row + 1]):
            threshold = thresholds[position]
            below, equal = np.int32(0), np.int32(0)
            for n in range(len(entries)):
                below += np.int32(entries[n] < threshold)
                equal += np.int32(entries[n] == threshold)
            closer[position] = below
            tied[position] = equal
