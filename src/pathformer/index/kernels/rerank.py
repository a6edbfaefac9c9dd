"""Measures a few chosen entities for each point, on the processor.

R points, N entities, D dimensions, C candidates.

Rows are read where they lie, eight at a time: first their terms, vectorised, then eight sums side by side, each in the
order of the dimensions: the same bits as in `scan` and `l1_rank`.
"""

from __future__ import annotations

import numpy as np

from pathformer.compiled import compiled, share, thread_count
from pathformer.index._scan import merge
from pathformer.index.kernels.scan import as_float32

__all__ = ["nearest_of"]


def nearest_of(
    points: np.ndarray, rows: np.ndarray, candidates: np.ndarray, k: int, factors: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Finds as `scan.nearest` does, among each point's own candidates (R, C), -1 for none; rows (N, D) as stored."""
    dot = factors is not None
    factors = np.empty(0, np.float32) if factors is None else factors
    distances = np.empty(candidates.shape, np.float32)
    total = candidates.size
    threads = min(thread_count(), max(1, total))
    share(lambda _, a, b: _measure(points, rows, candidates, dot, factors, a, b, distances), total, threads)
    ids, found = merge(candidates, distances, k)
    if ids.shape[1] == k:
        return ids, found
    missing = ((0, 0), (0, k - ids.shape[1]))
    return np.pad(ids, missing, constant_values=-1), np.pad(found, missing, constant_values=np.inf)


@compiled
def _measure(points, rows, candidates, dot, factors, first, last, distances):
    """Measures the pairs first to last of points and candidates, counted row by row."""
    count = candidates.shape[1]
    terms = np.zeros((8, rows.shape[1]), np.float32)
    pair = first
    while pair < last:
        row, column = pair // count, pair % count
        group = min(8, last - pair, count - column)
        for j in range(group):
            _fill(points[row], rows[max(candidates[row, column + j], 0)], dot, terms[j])
        sums = _add_up(terms)
        for j in range(group):
            entity = candidates[row, column + j]
            factor = factors[entity] if dot and entity >= 0 else np.float32(1)
            distances[row, column + j] = sums[j] * factor if entity >= 0 else np.inf
        pair += group


@compiled
def _fill(point, entity, dot, terms):
    if dot:
        for k in range(len(point)):
            terms[k] = -point[k] * as_float32(entity[k])
    else:
        for k in range(len(point)):
            terms[k] = abs(point[k] - as_float32(entity[k]))


@compiled
def _add_up(terms):
    """Adds up eight sums at a time: each waits for its own last addition alone."""
    a = b = c = d = e = f = g = h = np.float32(0)
    for k in range(terms.shape[1]):
        a += terms[0, k]
        b += terms[1, k]
        c += terms[2, k]
        d += terms[3, k]
        e += terms[4, k]
        f += terms[5, k]
        g += terms[6, k]
        h += terms[7, k]
    return a, b, c, d, e, f, g, h
