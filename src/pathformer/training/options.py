"""How an update is made: the settings under `training.update`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["SoftmaxOptions", "StepConfig"]


@dataclass(frozen=True, kw_only=True)
class SoftmaxOptions:
    """Of the objective `softmax`; none of it is the paper's."""

    entities: Literal["all", "drawn"] = "all"  # what a query's probability is shared among; "drawn": `negatives`
    targets: int = 128  # answers of a query that are targets at once, at most; 1: one of them, at random
    smoothing: float = 0.0  # share of the target that goes to all entities alike
    n3: float = 0.0  # weight of the cubes of a query's anchors, relations and one answer, of complex numbers
    relation: float = 0.0  # weight of the softmax over relations between the ends of a single link, likewise
    removed: int = 0  # entities that a query's negations take away and that count more in the sum, at most; 0: none
    removed_weight: float = 10.0  # how much more often each of them counts

    def __post_init__(self) -> None:
        if self.targets < 1:
            raise ValueError(f"targets {self.targets} leaves nothing to learn")
        if not 0.0 <= self.smoothing < 1.0:
            raise ValueError(f"smoothing {self.smoothing} is not in [0, 1)")
        if min(self.n3, self.relation) < 0.0:
            raise ValueError("n3 and relation are weights: 0 or more")
        if self.removed < 0 or self.removed_weight <= 0.0:
            raise ValueError("removed is a number of entities, 0 or more, and removed_weight is above 0")
        if self.removed and self.entities != "all":
            raise ValueError('removed entities count more among all of them: it needs entities = "all"')


@dataclass(frozen=True, kw_only=True)
class StepConfig:
    """How an update is made; how many of each structure it holds is the composition's matter."""

    objective: str = ""  # what is minimised, a file of `training.objectives`; empty: the method's own
    negatives: int = 128  # u, App. B
    filtered: bool = True  # negatives are never answers; the reference code means to, and through a slip does not
    softmax: SoftmaxOptions = field(default_factory=SoftmaxOptions)
    weighted: bool = True  # w_q of the reference code; the paper's Eq. 6 has none
    power: float = -0.5  # of 4 + answers in w_q, as in the reference code; above 0 queries of many answers count more
    average: Literal["structure", "batch"] = "structure"  # over what the weighted mean goes; see losses.block_means
    rate: float = 1e-4  # learning rate, App. B
    table_rate: float = 1.0  # factor of the rate for entity and operator tables
    token_rate: float = 1.0  # likewise for a model's other tables: domains
    betas: tuple[float, float] = (0.9, 0.999)  # Adam's own, as in the reference code
    epsilon: float = 1e-8  # likewise
    decay: float = 0.0  # decoupled weight decay of matrices, tables apart; the reference code has none
    ema: float = 0.0  # decay of a moving average of the weights, which is ranked instead of them; 0: none; ours
    precision: Literal["auto", "bf16", "fp32"] = "auto"  # bf16 on a CUDA device, fp32 elsewhere
    capture: bool = True  # record a CUDA graph, where there is a CUDA device

    def __post_init__(self) -> None:
        if self.negatives < 1:
            raise ValueError(f"negatives {self.negatives} leaves a query nothing to tell its answers from")
        if min(self.rate, self.table_rate, self.token_rate, self.decay) < 0.0:
            raise ValueError("rate, table_rate, token_rate and decay are 0 or more")
        if not all(0.0 <= beta < 1.0 for beta in self.betas) or not self.epsilon > 0.0:
            raise ValueError(f"betas {self.betas} are in [0, 1), and epsilon {self.epsilon} is above 0")
        if not 0.0 <= self.ema < 1.0:
            raise ValueError(f"ema {self.ema} is not in [0, 1)")
