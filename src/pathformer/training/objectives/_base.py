"""What every objective is: what it wants drawn, and one loss a query of what was.

B queries.

An objective's file holds one class, named by `OBJECTIVE = ...`. All of it is recorded in a CUDA graph: shapes are
static, nothing is read back, and there is no Python per query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor

from pathformer import plugins
from pathformer.models import Batch, Model
from pathformer.training.data import Drawn
from pathformer.training.options import StepConfig

__all__ = ["Needs", "Objective", "build"]

_PACKAGE = "pathformer.training.objectives"


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """What is drawn for each query besides one answer."""

    negatives: int = 0  # entities of its own
    filtered: bool = True  # whether those are never answers
    targets: int = 0  # answers, at most


class Objective(ABC):
    """What is minimised for one model."""

    def __init__(self, config: StepConfig) -> None:
        self.config = config

    @property
    @abstractmethod
    def needs(self) -> Needs:
        """What a batch must hold."""

    @abstractmethod
    def losses(self, network: Model, batch: Batch, drawn: Drawn) -> Tensor:
        """One loss a query, (B,) float32."""


def build(config: StepConfig, model: Model) -> Objective:
    """The objective of these settings; where they name none, the method's own."""
    kind: type[Objective] = plugins.load(_PACKAGE, config.objective or model.objective).OBJECTIVE
    return kind(config)
