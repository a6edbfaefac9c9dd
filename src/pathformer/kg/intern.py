"""From names to ids, for more rows than fit memory as strings.

Batches arrive as Arrow strings. Each is encoded on its own (distinct names, and a small number a row), and the distinct
names of many batches are merged into the one list at once, whenever as many wait as the list is long: so a name is
hashed a few times in all, and only numbers are kept of a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Interner", "by_first_appearance"]

Ids = npt.NDArray[np.int32]

_WAIT = 1 << 20  # merge no more often than for so many distinct names


class Interner:
    """Numbers for the names of some columns that share them: those of the first rows taken, by first appearance."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._names: Any = pa.array([], pa.large_string())
        self._done: list[list[Ids]] = []  # a list of columns a batch
        self._waiting: list[tuple[list[Ids], Any]] = []  # the same before the merge, with the distinct names
        self._waiting_names = 0
        self._final: Ids | None = None  # from the order of arrival to the order of appearance
        self.names: Any = self._names  # what the numbers mean, an Arrow array of large strings

    def add(self, *columns: Any) -> None:
        """Take the next rows: Arrow arrays of strings."""
        if not len(columns[0]):
            return
        encoded = pa.chunked_array(columns, pa.string()).dictionary_encode()
        distinct = encoded.chunk(0).dictionary.cast(pa.large_string())
        self._waiting.append(([chunk.indices.to_numpy() for chunk in encoded.chunks], distinct))
        self._waiting_names += len(distinct)
        if self._waiting_names > max(_WAIT, len(self._names)):
            self._merge()

    def take(self) -> list[Ids]:
        """The numbers of all rows since the last call, a column after the other.

        The first call settles which names there are; a later name has the number -1.
        """
        self._merge()
        empty = [np.empty(0, np.int32)]
        columns = [np.concatenate([b[c] for b in self._done] or empty) for c in range(self._columns)]
        self._done = []
        if self._final is None:
            order = by_first_appearance(columns, len(self._names))
            self.names = self._names.take(pa.array(order))
            self._final = np.empty(len(order), np.int32)
            self._final[order] = np.arange(len(order), dtype=np.int32)
        late = np.full(len(self._names) - len(self._final), -1, np.int32)
        final = np.concatenate([self._final, late]) if len(late) else self._final
        return [final[column] for column in columns]

    def _merge(self) -> None:
        """Names keep their place: the list comes first, so encoding it together with what waits only appends."""
        if not self._waiting:
            return
        lists = [self._names, *(distinct for _, distinct in self._waiting)]
        encoded = pa.chunked_array(lists).dictionary_encode()
        numbers = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])  # Arrow drops empty chunks
        end = len(self._names)
        for columns, distinct in self._waiting:
            start, end = end, end + len(distinct)
            self._done.append([numbers[start:end][rows] for rows in columns])
        self._names = encoded.chunk(0).dictionary
        self._waiting, self._waiting_names = [], 0


def by_first_appearance(columns: list[Ids], count: int) -> Ids:
    """The order (count,) in which numbers first appear when rows are read from left to right, one after the other.

    Batches number their names column by column, so their numbers depend on where one batch ends; this order does not.
    """
    width = len(columns)
    first = np.full(count, np.iinfo(np.int64).max)
    for place, column in enumerate(columns):
        seen = np.full(count, np.iinfo(np.int64).max)
        seen[column[::-1]] = np.arange(len(column) - 1, -1, -1) * width + place  # the last to write is the first row
        np.minimum(first, seen, out=first)
    return np.argsort(first, kind="stable").astype(np.int32)
