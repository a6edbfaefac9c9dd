"""Rows of different length in two flat arrays, and what two such tables have in common, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Ragged", "common", "difference", "select", "union"]


@dataclass(frozen=True, eq=False, slots=True)
class Ragged:
    """n rows of different length: row i is `values[ptr[i] : ptr[i + 1]]`; answer rows are ascending."""

    ptr: npt.NDArray[np.int64]  # (n + 1,)
    values: npt.NDArray[np.int32]

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Ragged:
        """Rows from plain sequences, each sorted."""
        arrays = [np.sort(np.fromiter(row, np.int32)) for row in rows]
        ptr = np.zeros(len(arrays) + 1, np.int64)
        np.cumsum([len(a) for a in arrays], out=ptr[1:])
        return cls(ptr, np.concatenate(arrays) if arrays else np.empty(0, np.int32))

    @classmethod
    def concatenate(cls, parts: Sequence[Ragged]) -> Ragged:
        """All rows of all parts, in order."""
        ptr = [np.zeros(1, np.int64)]
        for part in parts:
            ptr.append(part.ptr[1:] + ptr[-1][-1])
        return cls(np.concatenate(ptr), np.concatenate([np.empty(0, np.int32), *(p.values for p in parts)]))

    @classmethod
    def empty(cls, rows: int) -> Ragged:
        """Rows with nothing in them."""
        return cls(np.zeros(rows + 1, np.int64), np.empty(0, np.int32))

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def __getitem__(self, row: int) -> npt.NDArray[np.int32]:
        return self.values[self.ptr[row] : self.ptr[row + 1]]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The length of every row."""
        return np.diff(self.ptr)

    def take(self, rows: npt.NDArray[np.integer]) -> Ragged:
        """The chosen rows, in the order given."""
        counts = self.counts[rows]
        ptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(counts, out=ptr[1:])
        positions = np.arange(ptr[-1]) + np.repeat(self.ptr[:-1][rows] - ptr[:-1], counts)
        return Ragged(ptr, self.values[positions])


def select(rows: Ragged, kept: npt.NDArray[np.bool_]) -> Ragged:
    """Keeps the marked values in their rows."""
    counts = np.bincount(_owners(rows)[kept], minlength=len(rows))
    return Ragged(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), rows.values[kept])


def difference(rows: Ragged, others: Ragged) -> Ragged:
    """Keeps the values of each row that its counterpart does not have."""
    return select(rows, ~_inside(rows, others))


def common(rows: Ragged, others: Ragged) -> Ragged:
    """Keeps the values of each row that its counterpart has, too."""
    return select(rows, _inside(rows, others))


def union(rows: Ragged, others: Ragged) -> Ragged:
    """Joins each row with its counterpart."""
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
    """Returns a number for each value of each row, ascending."""
    return _owners(rows) * size + rows.values


def _owners(rows: Ragged) -> npt.NDArray[np.int64]:
    owners: npt.NDArray[np.int64] = np.repeat(np.arange(len(rows), dtype=np.int64), rows.counts)
    return owners
