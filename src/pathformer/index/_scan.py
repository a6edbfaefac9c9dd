"""Rows in blocks, and a search through all of them: in plain numpy at first, compiled once that pays.

R points, N entities, D dimensions, k wanted.

Loading compiled code takes longer than a hundred searches of a small table. Both ways add in the order of the
dimensions, in float32: the same bits.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.index.kernels.bf16 import to_float32

__all__ = ["BLOCK", "lay_out", "merge", "nearest", "nearest_plain"]

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Stored = npt.NDArray[Any]

BLOCK = 128  # entities a block: 200 kB of 800 dimensions in bf16

_COMPILED = "pathformer.index.kernels.scan"
_plain_left = 1 << 28  # numbers of tables that this process may still read in plain numpy: about half a second


def lay_out(stored: Stored) -> Stored:
    """Lays rows (N, D) out in blocks (ceil(N / 128), D, 128), the last one filled up with zeros."""
    rows, width = stored.shape
    blocks = -(-rows // BLOCK)
    laid = np.zeros((blocks, width, BLOCK), stored.dtype)
    for block in range(blocks):
        part = stored[block * BLOCK : (block + 1) * BLOCK]
        laid[block, :, : len(part)] = part.T
    return laid


def nearest(
    points: Floats, blocks: Stored, keep: npt.NDArray[np.bool_], k: int, factors: Floats | None = None
) -> tuple[Ids, Floats]:
    """Returns the k nearest kept entities of each point, nearest first, equal distances by id.

    points (R, D) float32; blocks as `lay_out` gives them; keep (N,) bool. The distance is |p - e|_1; with `factors`
    (N,) it is minus the inner product times the entity's factor: 1 / |e| makes it minus the cosine of unit points.
    Returns ids (R, k) int64 and distances (R, k) float32; -1 and inf where there are no more.
    """
    global _plain_left
    numbers = len(points) * blocks.size
    if _COMPILED not in sys.modules and numbers <= _plain_left:
        _plain_left -= numbers
        return nearest_plain(points, blocks, keep, k, factors)
    from pathformer.index.kernels import scan

    found: tuple[Ids, Floats] = scan.nearest(points, blocks, keep, k, factors)
    return found


def merge(ids: Ids, distances: Floats, k: int) -> tuple[Ids, Floats]:
    """Returns the k smallest of each row, in order of distance, then id."""
    order = np.lexsort((ids, distances))[:, :k]
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(distances, order, axis=1)


def nearest_plain(
    points: Floats, blocks: Stored, keep: npt.NDArray[np.bool_], k: int, factors: Floats | None = None
) -> tuple[Ids, Floats]:
    """Finds what `nearest` promises, in plain numpy, a dimension at a time."""
    ids, distances = np.full((len(points), k), -1, np.int64), np.full((len(points), k), np.inf, np.float32)
    kept = np.flatnonzero(keep)
    for row, point in enumerate(points):
        every = _sums(point, blocks, dot=factors is not None).reshape(-1)[kept]
        every = every if factors is None else every * factors[kept]
        best = np.argsort(every, kind="stable")[:k]
        best = best[every[best] < np.inf]
        ids[row, : len(best)], distances[row, : len(best)] = kept[best], every[best]
    return ids, distances


@np.errstate(over="ignore", invalid="ignore")
def _sums(point: Floats, blocks: Stored, *, dot: bool) -> Floats:
    """Adds up |p - e| or -p e over the dimensions: (D,), (blocks, D, 128) -> (blocks, 128)."""
    sums = np.zeros((len(blocks), BLOCK), np.float32)
    for dimension, number in enumerate(point):
        entities = to_float32(blocks[:, dimension])
        if dot:
            sums -= number * entities
        else:
            sums += np.abs(number - entities)
    return sums
