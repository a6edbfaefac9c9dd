"""Sets of answers, row by row: what two ragged tables of as many ascending rows have in common, and what not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.querysets.queries import Ragged

__all__ = ["common", "difference", "select", "union"]


def select(rows: Ragged, kept: npt.NDArray[np.bool_]) -> Ragged:
    """The values that are marked, in the rows that they were in."""
    counts = np.bincount(_owners(rows)[kept], minlength=len(rows))
    return Ragged(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), rows.values[kept])


def difference(rows: Ragged, others: Ragged) -> Ragged:
    """What each row holds and its counterpart does not."""
    return select(rows, ~_inside(rows, others))


def common(rows: Ragged, others: Ragged) -> Ragged:
    """What each row holds and its counterpart too."""
    return select(rows, _inside(rows, others))


def union(rows: Ragged, others: Ragged) -> Ragged:
    """What either holds."""
    size = _size(rows, others)
    both = np.union1d(_keys(rows, size), _keys(others, size))
    counts = np.bincount(both // size, minlength=len(rows))
    return Ragged(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), (both % size).astype(np.int32))


def _inside(rows: Ragged, others: Ragged) -> npt.NDArray[np.bool_]:
    size = _size(rows, others)
    left, right = _keys(rows, size), _keys(others, size)
    found: npt.NDArray[np.bool_] = np.append(right, -1)[np.searchsorted(right, left)] == left
    return found


def _size(*parts: Ragged) -> int:
    return 1 + max(int(part.values.max(initial=0)) for part in parts)


def _keys(rows: Ragged, size: int) -> npt.NDArray[np.int64]:
    """One number for each value of each row, ascending."""
    return _owners(rows) * size + rows.values


def _owners(rows: Ragged) -> npt.NDArray[np.int64]:
    owners: npt.NDArray[np.int64] = np.repeat(np.arange(len(rows), dtype=np.int64), rows.counts)
    return owners
