"""Rows of the table of links that are kept in memory: the ones that were not asked for longest go first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock

import numpy as np
import numpy.typing as npt

__all__ = ["KeptRows", "Row"]

Row = tuple[npt.NDArray[np.int32] | None, npt.NDArray[np.float32]]  # tails, None for all; their probabilities
OVERHEAD = 400  # bytes of a row besides its numbers, about


class KeptRows:
    """Rows by relation and head, at most `memory` bytes of them; safe to use from several threads."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.used = 0  # bytes
        self._rows: OrderedDict[tuple[int, int], Row] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, relation: int, heads: Sequence[int]) -> list[Row | None]:
        """Returns the rows of these heads; None where a row is not kept."""
        if not self._rows:
            return [None] * len(heads)
        with self._lock:
            found = [self._rows.get((relation, head)) for head in heads]
            for head, row in zip(heads, found, strict=True):
                if row is not None:
                    self._rows.move_to_end((relation, head))
        return found

    def add(self, relation: int, heads: Sequence[int], rows: Iterable[Row]) -> None:
        """Keeps rows, each in memory of its own, and lets go of older ones that do not fit beside them."""
        if not self.memory:
            return
        with self._lock:
            for head, (tails, values) in zip(heads, rows, strict=True):
                row = (None if tails is None else tails.copy(), values.copy())
                self.used += _size(row) - _size(self._rows.pop((relation, head), None))
                self._rows[relation, head] = row
                while self.used > self.memory:
                    self.used -= _size(self._rows.popitem(last=False)[1])


def _size(row: Row | None) -> int:
    if row is None:
        return 0
    tails, values = row
    return OVERHEAD + values.nbytes + (0 if tails is None else tails.nbytes)
