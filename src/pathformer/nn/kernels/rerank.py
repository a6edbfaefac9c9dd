"""True distances of a few chosen entities, on the processor.

R points, N entities, D dimensions, C candidates.

Rows are read where they lie, eight at a time, so that eight sums run side by side while each still adds in the order of
the dimensions: the same bits as in `scan` and `l1_rank`.
"""

from __future__ import annotations

import numba
import numpy as np
import torch

from pathformer.nn.kernels.scan import merged
from pathformer.nn.kernels.stored import wide
from pathformer.nn.kernels.threads import share

__all__ = ["nearest_of"]


def nearest_of(
    points: np.ndarray, rows: np.ndarray, candidates: np.ndarray, k: int, factors: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """As `scan.nearest`, among each point's own candidates (R, C), -1 for none; rows (N, D) are as stored."""
    dot = factors is not None
    factors = np.empty(0, np.float32) if factors is None else factors
    distances = np.empty(candidates.shape, np.float32)
    total = candidates.size
    threads = min(torch.get_num_threads(), max(1, total))
    share(lambda _, a, b: _measure(points, rows, candidates, dot, factors, a, b, distances), total, threads)
    ids, found = merged(candidates, distances, k)
    if ids.shape[1] == k:
        return ids, found
    missing = ((0, 0), (0, k - ids.shape[1]))
    return np.pad(ids, missing, constant_values=-1), np.pad(found, missing, constant_values=np.inf)


@numba.njit(nogil=True, cache=True)
def _measure(points, rows, candidates, dot, factors, first, last, distances):
    """The pairs first to last of points and candidates, counted row by row."""
    width, count = rows.shape[1], candidates.shape[1]
    sums = np.empty(8, np.float32)
    chosen = np.empty(8, np.int64)
    pair = first
    while pair < last:
        row, column = pair // count, pair % count
        group = min(8, last - pair, count - column)
        for j in range(8):
            chosen[j] = max(candidates[row, column + min(j, group - 1)], 0)
        sums[:] = 0
        point = points[row]
        for k in range(width):
            if dot:
                for j in range(8):
                    sums[j] -= point[k] * wide(rows[chosen[j], k])
            else:
                for j in range(8):
                    sums[j] += abs(point[k] - wide(rows[chosen[j], k]))
        for j in range(group):
            entity = candidates[row, column + j]
            factor = factors[entity] if dot and entity >= 0 else np.float32(1)
            distances[row, column + j] = sums[j] * factor if entity >= 0 else np.inf
        pair += group
