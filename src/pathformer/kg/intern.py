"""Numbers names, for more rows than fit memory as strings.

Rows arrive as Arrow strings and wait. Whenever more of them wait than a few times the distinct names so far, they are
encoded together with the list of these names, in a thread beside the reader: a name of the list is hashed again seldom,
and of a row only its number is kept.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pathformer.kg.arrow import NO_STRINGS, integers, numbers_of

__all__ = ["Interner", "by_first_appearance"]

Ids = npt.NDArray[np.int32]

_WAIT = 1 << 22  # names that wait at least: 200 MB of usual ones


class Interner:
    """Numbers for the names of some columns that share them: those of the first rows taken, by first appearance."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._names = NO_STRINGS  # in the order of arrival
        self._done: list[list[Ids]] = [[] for _ in range(columns)]
        self._waiting: list[list[Any]] = []  # a list of columns a batch
        self._waiting_names = 0
        self._final: Ids | None = None  # from the order of arrival to the order of appearance
        self._thread = ThreadPoolExecutor(1)
        self._job: Future[None] | None = None
        self.names = NO_STRINGS  # what the numbers mean, an Arrow array of large strings

    def add(self, *columns: Any) -> None:
        """Takes the next rows: Arrow arrays of strings, always equally many columns."""
        if not len(columns[0]):
            return
        self._waiting.append([column.cast(pa.large_string()) for column in columns])
        self._waiting_names += self._columns * len(columns[0])
        if self._waiting_names > max(_WAIT, 4 * len(self._names)):
            self._merge()

    def take(self) -> list[Ids]:
        """Returns the numbers of all rows since the last call, one column after the other.

        The first call settles which names there are; a later name has the number -1.
        """
        self._merge()
        self._settle()
        columns = [np.concatenate([np.empty(0, np.int32), *parts]) for parts in self._done]
        self._done = [[] for _ in range(self._columns)]
        if self._final is None:
            order = by_first_appearance(columns, len(self._names))
            self.names = self._names.take(integers(order))
            self._final = np.empty(len(order), np.int32)
            self._final[order] = np.arange(len(order), dtype=np.int32)
        late = np.full(len(self._names) - len(self._final), -1, np.int32)
        final = np.concatenate([self._final, late]) if len(late) else self._final
        return [final[column] for column in columns]

    def _merge(self) -> None:
        self._settle()
        batches, self._waiting, self._waiting_names = self._waiting, [], 0
        if batches:
            self._job = self._thread.submit(self._encode, batches)

    def _settle(self) -> None:
        if self._job is not None:
            self._job.result()
            self._job = None

    def _encode(self, batches: list[list[Any]]) -> None:
        """Names keep their place: the list comes first, so encoding it together with the rows only appends."""
        rows = [column for batch in batches for column in batch]
        encoded = pa.chunked_array([self._names, *rows]).dictionary_encode()
        chunks = encoded.chunks[-len(rows) :]  # Arrow drops an empty list
        for position, chunk in enumerate(chunks):
            self._done[position % self._columns].append(numbers_of(chunk.indices))
        self._names = chunks[0].dictionary


def by_first_appearance(columns: list[Ids], count: int) -> Ids:
    """Returns the order (count,) in which numbers first appear when rows are read from left to right.

    Batches number their names column by column, so their numbers depend on where one batch ends; this order does not.
    """
    width = len(columns)
    first = np.full(count, np.iinfo(np.int64).max)
    for position, column in enumerate(columns):
        seen = np.full(count, np.iinfo(np.int64).max)
        seen[column[::-1]] = np.arange(len(column) - 1, -1, -1) * width + position  # the last to write is the first row
        np.minimum(first, seen, out=first)
    return np.argsort(first, kind="stable").astype(np.int32)
