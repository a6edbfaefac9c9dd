"""The settings of a training and of its updates, and the task and the result of the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from pathformer.config import check_range
from pathformer.errors import ConfigError
from pathformer.evaluation.report import Report
from pathformer.models._base import Model
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.training.data import TrainingSet
from pathformer.training.schedule import ScheduleName

__all__ = ["Result", "SoftmaxOptions", "StepConfig", "Task", "Training"]


@dataclass(frozen=True, kw_only=True)
class SoftmaxOptions:
    """The settings of the objective `softmax`; none of them is the paper's."""

    entities: Literal["all", "drawn"] = "all"  # what a query's probability is shared among; "drawn": `negatives`
    targets: int = 128  # answers of a query that are targets at once, at most; 1: one of them, at random
    smoothing: float = 0.0  # share of the target that goes to all entities alike
    n3: float = 0.0  # weight of the cubes of a query's anchors, relations and one answer, of complex numbers
    relation: float = 0.0  # weight of the softmax over relations between the ends of a single link, likewise
    removed: int = 0  # entities that a query's negations take away and that count more in the sum, at most; 0: none
    removed_weight: float = 10.0  # how much more often each of them counts

    def __post_init__(self) -> None:
        check_range(self, "targets", least=1)
        check_range(self, "smoothing", least=0, below=1)
        check_range(self, "n3", "relation", "removed", least=0)
        check_range(self, "removed_weight", above=0)
        if self.removed and self.entities != "all":
            raise ValueError('removed entities count more among all of them: it needs entities = "all"')


@dataclass(frozen=True, kw_only=True)
class StepConfig:
    """The settings of an update, `training.update`; `Training.composition` says what it holds."""

    objective: str = ""  # what is minimised, a file of `training.objectives`; empty: the method's own
    negatives: int = 128  # u, App. B
    filtered: bool = True  # negatives are never answers; the reference code means to, and through a slip does not
    softmax: SoftmaxOptions = field(default_factory=SoftmaxOptions)
    weighted: bool = True  # w_q of the reference code; the paper's Eq. 6 has none
    answer_count_exponent: float = (
        -0.5
    )  # of 4 + answers in w_q, as in the reference code; above 0 queries of many answers count more
    average_over: Literal["structure", "batch"] = (
        "structure"  # over what the weighted mean goes; see losses.block_means
    )
    rate: float = 1e-4  # learning rate, App. B
    table_rate: float = 1.0  # factor of the rate for entity and operator tables
    domain_rate: float = 1.0  # likewise for a model's other tables: domains
    betas: tuple[float, float] = (0.9, 0.999)  # Adam's own, as in the reference code
    epsilon: float = 1e-8  # likewise
    weight_decay: float = 0.0  # decoupled weight decay of matrices, tables apart; the reference code has none
    ema: float = 0.0  # decay of a moving average of the weights, which is ranked instead of them; 0: none; ours
    precision: Literal["auto", "bf16", "fp32"] = "auto"  # bf16 on a CUDA device, fp32 elsewhere
    capture: bool = True  # record a CUDA graph, where there is a CUDA device

    def __post_init__(self) -> None:
        check_range(self, "negatives", least=1)
        check_range(self, "rate", "table_rate", "domain_rate", "weight_decay", least=0)
        check_range(self, "epsilon", above=0)
        check_range(self, "ema", least=0, below=1)
        if not all(0.0 <= beta < 1.0 for beta in self.betas):
            raise ValueError(f"both betas must be at least 0 and below 1, got {self.betas[0]} and {self.betas[1]}")


@dataclass(frozen=True, kw_only=True)
class Training:
    """The settings of a training: how long, how much at once, when to validate and to save."""

    steps: int = 450_000  # App. B says 300,000 / 450,000 without saying where; the reference code runs 450,000
    minutes: float | None = None  # a time limit: the run ends with it, and the schedule follows it
    batch: int = 512  # App. B
    batch_per: Literal["structure", "step"] = (
        "structure"  # whether `batch` counts each structure's queries or all of them
    )
    mix: Mapping[str, float] = field(default_factory=dict)  # with batch_per "step": a structure's part of it, else 1
    update_per_structure: bool = (
        True  # a step is one update a structure, as in the reference code; false: one on all of them
    )
    redraw_every: int = 0  # steps after which all training queries are replaced by newly drawn ones; 0: never; ours
    walk_from_answer: bool = (
        False  # paths are walked from an answer, as those that are asked are, not from the anchor; ours
    )
    weigh_by_removed: int = (
        0  # training queries are drawn by what their negations take away, up to so many; 0: as walked; ours
    )
    schedule: ScheduleName = "reference"  # "cosine" with warm-up and update.weight_decay is the modern choice
    warmup: float = 0.0  # share of the run over which the rate rises
    floor: float = 0.0  # of the rate at the end of "cosine", as a share of it
    validations: int = 20  # spread evenly over the run, the last one at its end
    save_minutes: float = 5.0  # what a kill may cost at most, besides the saves at validations
    seed: int = 0  # silent; of weights, draws and dropout
    update: StepConfig = field(default_factory=StepConfig)

    def __post_init__(self) -> None:
        check_range(self, "steps", "batch", least=1)
        check_range(self, "redraw_every", "weigh_by_removed", "validations", least=0)
        check_range(self, "warmup", least=0, below=1)
        if not 0 <= self.seed < 1 << 64:
            raise ValueError(f"seed must be a whole number from 0, below 2^64, got {self.seed}")
        if not 0.0 <= self.floor <= 1.0:
            raise ValueError(f"floor must be from 0 to 1, got {self.floor}")
        if self.minutes is not None and not 0 < self.minutes < float("inf"):
            raise ValueError(f"minutes must be a positive finite number, got {self.minutes}")
        if strange := [name for name in self.mix if name not in STRUCTURES]:
            raise ValueError(f"mix names {', '.join(strange)}, no structure; there are: {', '.join(STRUCTURES)}")
        if any(part <= 0 for part in self.mix.values()):
            raise ValueError(f"every part of mix must be above 0, got {dict(self.mix)}")
        if self.mix and self.batch_per != "step":
            raise ValueError('mix divides a step among structures: it needs batch_per = "step"')

    def composition(self, structures: tuple[str, ...]) -> dict[str, int]:
        """Returns the number of queries of each structure in a step."""
        if self.batch_per == "structure":
            return dict.fromkeys(structures, self.batch)
        if self.batch < len(structures):
            raise ConfigError(
                f"batch is {self.batch}, but {len(structures)} structures need at least one query each: "
                f"set {len(structures)} or more"
            )
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
    """A model with its training queries, as the loop takes them."""

    model: Model  # on its device
    data: TrainingSet  # on the same
    facts: Mapping[str, Any]  # settings, method, dataset, fingerprint: what a checkpoint says of itself
    validate: Callable[[], Report] | None = None
    draw: Callable[[int], Sequence[Queries]] | None = (
        None  # the n-th set of training queries, for `Training.redraw_every`
    )
    row_rates: Mapping[str, Tensor] | None = None  # by weight, each row's factor of the rate, (N, 1); others stay


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a training ended."""

    finished: bool  # false: interrupted, the same call continues
    step: int
    seconds: float
    last: Path
    best: Path | None  # none without validation
    best_mrr: float | None
