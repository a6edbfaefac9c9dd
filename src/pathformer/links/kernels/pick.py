"""Picks the links above a threshold out of dense rows.

B heads, N entities, S links that are kept.
"""

from __future__ import annotations

import numpy as np

from pathformer.compiled import compiled

__all__ = ["pick"]


def pick(rows: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the entries of rows (B, N) above a threshold: ptr (B + 1,), tails (S,) ascending, values (S,)."""
    ptr = np.zeros(len(rows) + 1, np.int64)
    _count(rows, np.float32(threshold), ptr)
    tails, values = np.empty(ptr[-1], np.int32), np.empty(ptr[-1], np.float32)
    _write(rows, np.float32(threshold), ptr, tails, values)
    return ptr, tails, values


@compiled
def _count(rows, threshold, ptr):
    for row in range(len(rows)):
        count = 0
        for tail in range(rows.shape[1]):
            count += rows[row, tail] > threshold
        ptr[row + 1] = ptr[row] + count


@compiled
def _write(rows, threshold, ptr, tails, values):
    for row in range(len(rows)):
        position = ptr[row]
        for tail in range(rows.shape[1]):
            if rows[row, tail] > threshold:
                tails[position], values[position] = tail, rows[row, tail]
                position += 1
