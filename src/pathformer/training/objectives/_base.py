"""What every objective is: it says what a batch must hold, and turns a batch into one loss for each query.

B queries.

An objective's file holds one class, named by `OBJECTIVE = ...`. All of it is recorded in a CUDA graph: shapes are
static, nothing is read back, and there is no Python per query.

Losses of queries from distances, the reference code's weights of queries, and means by structure.

B queries, u negatives a query, S structures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer import plugins
from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.training.data import Drawn
from pathformer.training.settings import StepConfig

__all__ = ["Needs", "Objective", "block_means", "build", "margin_loss", "pairwise_loss", "query_weights"]


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
        """Says what a batch must hold."""

    @abstractmethod
    def losses(self, network: Model, batch: Batch, drawn: Drawn) -> Tensor:
        """One loss a query, (B,) float32."""


def build(config: StepConfig, model: Model) -> Objective:
    """Builds the objective of these settings; if they name none, the method's own."""
    kind: type[Objective] = plugins.load("objectives", config.objective or model.objective).OBJECTIVE
    return kind(config)


def margin_loss(positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Eq. 6 (label eq4):  -log s(margin - Dist(e;q)) - 1/u sum_j log s(Dist(e'_j;q) - margin).

    positive (B,)  Dist(e;q);  negative (B, u)  Dist(e'_j;q);  returns (B,), one loss a query.
    """
    return F.softplus(positive - margin) + F.softplus(margin - negative).mean(dim=-1)


def pairwise_loss(positive: Tensor, negative: Tensor) -> Tensor:
    """-1/u sum_j log s(Dist(e'_j;q) - Dist(e;q)).  positive (B,), negative (B, u) -> (B,)."""
    return F.softplus(positive[:, None] - negative).mean(dim=-1)


def query_weights(answers: Tensor, exponent: float = -0.5) -> Tensor:
    """w_q = (4 + train answers)^exponent; the reference code has -1/2, the paper's Eq. 6 none. (B,) -> (B,)."""
    return (answers + 4.0).rsqrt() if exponent == -0.5 else (answers + 4.0) ** exponent


def block_means(losses: Tensor, weights: Tensor, sizes: Sequence[int]) -> Tensor:
    """The weighted mean loss of each structure's queries. losses, weights (B,) -> (S,).

    sizes: how many neighbouring queries each structure has. Each update of the reference code holds one structure; the
    mean over the result is the loss of all those updates taken together.
    """
    totals = torch.stack([part.sum() for part in (losses * weights).split(list(sizes))])
    return totals / torch.stack([part.sum() for part in weights.split(list(sizes))])
