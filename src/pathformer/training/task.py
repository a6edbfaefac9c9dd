"""What a run is told and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from pathformer.errors import ConfigError
from pathformer.evaluation.report import Report
from pathformer.models import Model
from pathformer.query.structures import STRUCTURES
from pathformer.symbolic.queries import Queries
from pathformer.training.data import TrainingSet
from pathformer.training.options import StepConfig
from pathformer.training.schedule import ScheduleName

__all__ = ["Result", "Task", "Training"]


@dataclass(frozen=True, kw_only=True)
class Training:
    """How long, how much at once, and when to stop and look."""

    steps: int = 450_000  # App. B says 300,000 / 450,000 without saying where; the reference code runs 450,000
    minutes: float | None = None  # a box of time: the run ends with it, and the schedule follows it
    batch: int = 512  # App. B
    share: Literal["structure", "step"] = "structure"  # whether `batch` counts each structure's queries or all of them
    mix: Mapping[str, float] = field(default_factory=dict)  # with share "step": a structure's part of it, else 1
    turns: bool = True  # a step is one update a structure, as in the reference code; false: one on all of them
    fresh: int = 0  # steps after which all training queries are replaced by newly drawn ones; 0: never; ours
    backward: bool = False  # paths are walked from an answer, as those that are asked are, not from the anchor; ours
    contested: int = (
        0  # training queries are drawn by what their negations take away, up to so many; 0: as walked; ours
    )
    schedule: ScheduleName = "reference"  # "cosine" with warm-up and update.decay is the modern choice
    warmup: float = 0.0  # share of the run over which the rate rises
    floor: float = 0.0  # of the rate at the end of "cosine", as a share of it
    validations: int = 20  # spread evenly over the run, the last one at its end
    save_minutes: float = 5.0  # what a kill may cost at most, besides the saves at validations
    seed: int = 0  # silent; of weights, draws and dropout
    update: StepConfig = field(default_factory=StepConfig)

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch < 1:
            raise ValueError("steps and batch are at least 1")
        if not 0 <= self.seed < 1 << 64:
            raise ValueError(f"seed {self.seed} is no whole number from 0, below 2^64")
        if self.fresh < 0:
            raise ValueError(f"fresh {self.fresh} is a number of steps: 0 or more")
        if self.contested < 0:
            raise ValueError(f"contested {self.contested} is a number of entities: 0 or more")
        if not 0.0 <= self.warmup < 1.0 or not 0.0 <= self.floor <= 1.0:
            raise ValueError(f"warmup {self.warmup} and floor {self.floor} are shares, and something follows a warm-up")
        if self.validations < 0:
            raise ValueError(f"validations {self.validations} is how many there are: 0 or more")
        if self.minutes is not None and not 0 < self.minutes < float("inf"):
            raise ValueError(f"minutes {self.minutes} is no time at all, or no end of it")
        if strange := [name for name in self.mix if name not in STRUCTURES]:
            raise ValueError(f"mix names no structure with {', '.join(strange)}; there are: {', '.join(STRUCTURES)}")
        if any(part <= 0 for part in self.mix.values()):
            raise ValueError(f"every part of mix is above 0, not {dict(self.mix)}")
        if self.mix and self.share != "step":
            raise ValueError('mix divides a step among structures: it needs share = "step"')

    def composition(self, structures: tuple[str, ...]) -> dict[str, int]:
        """Queries a step of each structure."""
        if self.share == "structure":
            return dict.fromkeys(structures, self.batch)
        if self.batch < len(structures):
            raise ConfigError(f"batch {self.batch} does not go round {len(structures)} structures")
        spare = self.batch - len(structures)  # each has one query at the least
        whole = sum(self.mix.get(name, 1.0) for name in structures)
        exact = {name: spare * self.mix.get(name, 1.0) / whole for name in structures}
        sizes = {name: 1 + int(exact[name]) for name in structures}
        by_rest = sorted(structures, key=lambda name: int(exact[name]) - exact[name])
        for name in by_rest[: self.batch - sum(sizes.values())]:
            sizes[name] += 1
        return sizes


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is trained on what."""

    model: Model  # on its device
    data: TrainingSet  # on the same
    facts: Mapping[str, Any]  # settings, method, dataset, fingerprint: what a checkpoint says of itself
    validate: Callable[[], Report] | None = None
    draw: Callable[[int], Sequence[Queries]] | None = None  # the n-th set of training queries, for `Training.fresh`
    moved: Mapping[str, Tensor] | None = None  # by weight, what each of its rows has of the rate, (N, 1); others stay


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a run ended."""

    finished: bool  # false: interrupted, the same call continues
    step: int
    seconds: float
    last: Path
    best: Path | None  # none without validation
    best_mrr: float | None
