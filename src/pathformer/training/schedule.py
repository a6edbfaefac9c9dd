"""How the learning rate moves as a run goes by, and how far a run has gone.

A schedule is a function of progress, the share of the run that is done: steps over steps, or minutes over minutes. So a
run with a time budget drops its rate when half of it is spent, at whatever step that is.

    reference   lr, lr / 5 after 1/2, lr / 25 after 3/4 of the run; each drop starts a new optimiser, its moments lost.
                Code nearest to the paper does this (KGReasoning and what grew from it); the paper is silent.
    cosine      warm-up from 0 over `warmup` of the run, then half a cosine down to `floor` times lr. Moments are kept.
    linear      the same warm-up, then a straight line down to `floor` times lr.
    constant    after the warm-up nothing moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pathformer.training.budget import TimeBudget

__all__ = ["Moment", "Progress", "ScheduleName", "moment"]

ScheduleName = Literal["reference", "cosine", "linear", "constant"]


@dataclass(frozen=True, slots=True)
class Moment:
    """The learning rate at a point of a run."""

    factor: float  # of the learning rate
    phase: int = 0  # where it changes, the optimiser starts anew


def moment(schedule: ScheduleName, progress: float, warmup: float = 0.0, floor: float = 0.0) -> Moment:
    """Returns the moment at `progress` (0 at the first update, 1 at the end)."""
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


class Progress:
    """How far a run of so many steps, or of so many minutes, has gone.

    Its seconds are those of the loop, validation included, summed over sittings; pauses do not count.
    """

    def __init__(self, steps: int, budget: TimeBudget, step: int = 0) -> None:
        self.steps, self.budget, self.step = steps, budget, step

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return self.budget.spent

    @property
    def share(self) -> float:
        """The share of the run that is done; past 1 only by the length of the last update."""
        return max(self.budget.progress, self.step / self.steps)

    @property
    def done(self) -> bool:
        """Whether no further update is due."""
        return self.share >= 1.0

    @property
    def seconds_left(self) -> float:
        """Seconds to go, if the coming updates take as long as those so far."""
        if self.step == 0:
            return math.inf
        return self.seconds * max(0.0, 1.0 - self.share) / max(self.share, 1e-9)
