"""An amount of time: how much of it is spent, how much is left, and how much each of its parts may take.

The one clock of everything that has to end in time: a training, the stages of a fit, queries that are drawn structure
by structure. A limit of None is no limit; time is counted all the same.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["TimeBudget"]


class TimeBudget:
    """Runs down by the clock from the moment it is made."""

    def __init__(
        self, seconds: float | None = None, *, spent: float = 0.0, now: Callable[[], float] = time.monotonic
    ) -> None:
        """seconds: all of it; None: no limit. spent: what earlier sittings took."""
        self.seconds = seconds
        self._now, self._start = now, now() - spent
        self._paused: float | None = None

    @classmethod
    def of_minutes(
        cls, minutes: float | None, *, spent: float = 0.0, now: Callable[[], float] = time.monotonic
    ) -> TimeBudget:
        """Makes a budget of so many minutes."""
        return cls(None if minutes is None else 60.0 * minutes, spent=spent, now=now)

    @property
    def spent(self) -> float:
        """Seconds since it began; pauses do not count."""
        return self._now() - self._start if self._paused is None else self._paused

    @property
    def left(self) -> float:
        """Seconds until it is over; infinite without a limit."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.spent)

    @property
    def progress(self) -> float:
        """The share that is spent; 0 without a limit, above 1 once it is over."""
        return 0.0 if self.seconds is None else self.spent / self.seconds

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Inside, no time goes by."""
        self._paused = spent = self.spent
        try:
            yield
        finally:
            self._start, self._paused = self._now() - spent, None

    def first(self, share: float) -> TimeBudget:
        """Returns the first `share` of it as a budget that began when this one did."""
        return TimeBudget(self.part(share), spent=self.spent, now=self._now)

    def part(self, share: float) -> float | None:
        """Returns a share of the whole in seconds; None without a limit."""
        return None if self.seconds is None else share * self.seconds

    def next_of(self, parts: int) -> float | None:
        """Returns the seconds for the next of so many parts that share what is left; None without a limit."""
        return None if self.seconds is None else self.left / max(parts, 1)
