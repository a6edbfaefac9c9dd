"""Training queries that are drawn while others are trained on.

Set 0 is what a run starts with; set n takes its place before step n * every. While one is trained on, the next is drawn
by a thread beside the trainer; where it is not ready in time, the trainer waits. Which queries a step sees thus depends
on seed and step alone, and a run that is continued draws the set it had stopped in once more: the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from pathformer.querysets.queries import Queries
from pathformer.training.data import TrainingSet

__all__ = ["ROOM", "Fresh"]

ROOM = 0.25  # for so many more answers than the first set has: see `TrainingSet.of`


class Fresh:
    """Keeps the training set of a run filled with the set that is due."""

    def __init__(self, data: TrainingSet, draw: Callable[[int], Sequence[Queries]], every: int) -> None:
        self._data, self._draw, self._every = data, draw, every
        self._pool = ThreadPoolExecutor(1, "fresh-queries")
        self._next: tuple[int, Future[Sequence[Queries]]] | None = None
        self._there = 0  # the set that lies on the device
        self._waited = 0.0

    def before(self, step: int) -> None:
        """Have the set of a step in place, and the one after it under way."""
        due = step // self._every
        if due != self._there:
            self._data.refill(self._take(due))
            self._there = due
        if self._next is None or self._next[0] != due + 1:
            self._next = due + 1, self._pool.submit(self._draw, due + 1)

    def _take(self, number: int) -> Sequence[Queries]:
        begun, ahead = time.monotonic(), self._next
        found = ahead[1].result() if ahead is not None and ahead[0] == number else self._draw(number)
        self._waited += time.monotonic() - begun
        return found

    def waited(self) -> float:
        """Seconds that the trainer has stood still for queries since this was last asked."""
        seconds, self._waited = self._waited, 0.0
        return seconds

    def close(self) -> None:
        """Draw no more; what is under way ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
