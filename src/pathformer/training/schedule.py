"""How the learning rate moves as a run goes by, and how far a run has gone.

A schedule is a function of progress, the share of the run that is done: steps over steps, or minutes over minutes. So a
time-boxed run drops its rate at half of its box, wherever that falls.

    reference   lr, lr / 5 after 1/2, lr / 25 after 3/4 of the run; each drop starts a new optimiser, its moments lost.
                Code nearest to the paper does this (KGReasoning and what grew from it); the paper is silent.
    cosine      warm-up from 0 over `warmup` of the run, then half a cosine down to `floor` times lr. Moments are kept.
    linear      the same warm-up, then a straight line down to `floor` times lr.
    constant    after the warm-up nothing moves.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

__all__ = ["Clock", "Moment", "ScheduleName", "moment"]

ScheduleName = Literal["reference", "cosine", "linear", "constant"]


@dataclass(frozen=True, slots=True)
class Moment:
    """What holds at a point of a run."""

    factor: float  # of the learning rate
    phase: int = 0  # where it changes, the optimiser starts anew


def moment(schedule: ScheduleName, progress: float, warmup: float = 0.0, floor: float = 0.0) -> Moment:
    """The moment at `progress` (0 at the first update, 1 at the end)."""
    match schedule:
        case "reference":
            phase = (progress > 0.5) + (progress > 0.75)
            return Moment(_rise(progress, warmup) / 5.0**phase, phase)
        case "cosine":
            fall = 0.5 * (1.0 + math.cos(math.pi * _fallen(progress, warmup)))
            return Moment(_rise(progress, warmup) * (floor + (1.0 - floor) * fall))
        case "linear":
            return Moment(_rise(progress, warmup) * (floor + (1.0 - floor) * (1.0 - _fallen(progress, warmup))))
        case "constant":
            return Moment(_rise(progress, warmup))


def _fallen(progress: float, warmup: float) -> float:
    return min(1.0, max(0.0, progress - warmup) / max(1e-9, 1.0 - warmup))


def _rise(progress: float, warmup: float) -> float:
    return min(1.0, progress / warmup) if warmup > 0.0 else 1.0


class Clock:
    """How far a run of so many steps, or of so many minutes, has gone.

    Seconds are those of the loop, validation included, summed over interruptions; not those while it is held.
    """

    def __init__(
        self,
        steps: int,
        minutes: float | None = None,
        *,
        step: int = 0,
        seconds: float = 0.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.steps, self.minutes, self.step = steps, minutes, step
        self._now, self._start = now, now() - seconds
        self._held: float | None = None

    @property
    def seconds(self) -> float:
        """Since the run began, interruptions not counted."""
        return self._now() - self._start if self._held is None else self._held

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside, no time goes by."""
        self._held = spent = self.seconds
        try:
            yield
        finally:
            self._start, self._held = self._now() - spent, None

    @property
    def progress(self) -> float:
        """The share of the run that is done; past 1 only by the length of the last update."""
        if self.minutes is None:
            return self.step / self.steps
        return max(self.seconds / (60.0 * self.minutes), self.step / self.steps)

    @property
    def done(self) -> bool:
        """Whether no further update is due."""
        return self.progress >= 1.0

    @property
    def left(self) -> float:
        """Seconds to go, if the coming updates take as long as those so far."""
        if self.step == 0:
            return math.inf
        return self.seconds * max(0.0, 1.0 - self.progress) / max(self.progress, 1e-9)
