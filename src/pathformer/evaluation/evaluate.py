"""Evaluates a model or a baseline on sets of queries: encode, rank, score, report.

A filter names the entities that an answer is not ranked against:

    reference   all easy and hard answers of the query. Some easy answers of a query with negation are no answers on the
                larger graph, because a new edge lets the negated branch reach them; the reference code leaves these out
                of the ranking too. This is the default, because published figures are made so.
    strict      only the answers on the larger graph, as the paper's text says (ranked "against non-answer entities").
                The vanished answers are then wrong entities that the hard answers must beat. This filter needs the
                larger graph, because easy and hard answers do not say which easy ones vanish.

Without a negation no answer vanishes and both are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.errors import DivergedError
from pathformer.evaluation.metrics import Ties, score
from pathformer.evaluation.ranks import Filters, Ranks, block_rows, even_blocks, fold_disjuncts, rank_blocks
from pathformer.evaluation.report import Report
from pathformer.kg.graph import Graph
from pathformer.kg.ragged import Ragged
from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.nn.device import keep_freed_memory
from pathformer.plan.build import build_layout, decompose
from pathformer.plan.layout import Block, UnionWay
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.graph_pair import GraphPair

__all__ = ["Answers", "ModelRanker", "Ranker", "ScoreRanker", "Scorer", "evaluate", "reference_filter", "strict_filter"]

Answers = Literal["hard", "easy"]


class Ranker(Protocol):
    """A method that can be evaluated."""

    def rank(self, queries: Queries, targets: Ragged, filters: Filters) -> Ranks:
        """Ranks `targets` of every query among the entities that no filter holds."""


def evaluate(
    ranker: Ranker,
    queries: Mapping[str, Queries],
    *,
    answers: Answers = "hard",
    ties: Ties = "expected",
    strict: Graph | None = None,
    about: Mapping[str, Any] | None = None,
    paper: Mapping[str, float] | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> Report:
    """Returns a report with MRR and Hits@k of every structure.

    answers: whether to rank answers that need a missing edge or answers that the smaller graph gives; strict: the
    larger graph, for the strict filter; progress: called after each structure.
    """
    scores = {}
    with keep_freed_memory():  # one block of distances after another
        for name in sorted(queries, key=_position):
            part = queries[name]
            filters = reference_filter(part) if strict is None else strict_filter(part, strict)
            targets = part.hard if answers == "hard" else part.easy
            scores[name] = score(ranker.rank(part, targets, filters), ties)
            if progress is not None:
                progress(name, len(part))
    how = {"answers": answers, "ties": ties, "filter": "reference" if strict is None else "strict"}
    return Report(scores=scores, about={**(about or {}), **how}, paper=paper or {})


class Scorer(Protocol):
    """A method without a space: it gives every entity a score, larger is better."""

    entities: int

    def scores(self, queries: Queries) -> npt.NDArray[np.float32]:
        """Returns the score of every entity for every query, (Q, N)."""


class ScoreRanker:
    """Ranks by the scores of a baseline."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer

    def rank(self, queries: Queries, targets: Ragged, filters: Filters) -> Ranks:
        """Ranks `targets` of every query among the entities that no filter holds."""
        size = block_rows(self.scorer.entities, torch.device("cpu"))

        def distances(first: int, last: int) -> Tensor:
            return torch.from_numpy(-self.scorer.scores(queries.take(np.arange(first, last))))

        return rank_blocks(distances, targets, filters, even_blocks(len(queries), size))


class ModelRanker:
    """Ranks by a model's distances, on the model's device."""

    def __init__(self, model: Model, memory: int | None = None, union: UnionWay | None = None) -> None:
        """memory: bytes for a block of distances; union: how unions are answered, by default as the model says."""
        self.model, self.memory = model, memory
        self.union: UnionWay = model.union if union is None else union
        table = model.entities.weight.detach()
        if not bool(torch.isfinite(table).all()):
            raise DivergedError("the entity table holds numbers that are not finite: the weights diverged")
        self.device, self.entities = table.device, len(table)
        self._table = table

    def rank(self, queries: Queries, targets: Ragged, filters: Filters) -> Ranks:
        """Ranks as `Ranker.rank` says, in blocks that fit the memory."""
        rows = len(decompose(queries.structure, self.union))
        size = max(1, block_rows(self.entities, self.device, self.memory) // rows)

        def distances(first: int, last: int) -> Tensor:
            return self._distances(queries.take(np.arange(first, last)))

        with self.model.at_rest(), torch.inference_mode():
            return rank_blocks(distances, targets, filters, even_blocks(len(queries), size))

    def points(self, queries: Queries) -> tuple[Tensor, npt.NDArray[np.int64]]:
        """Returns points (D, q), one for each disjunct, and how many disjuncts each query has."""
        layout = build_layout([Block(queries.structure, len(queries))], self.union)
        ids = torch.from_numpy(queries.ids.reshape(-1)).to(self.device)
        points = self.model.encode(Batch.of(layout, self.device), ids).float()
        if not bool(torch.isfinite(points).all()):
            raise DivergedError(f"a {queries.structure} query is encoded as numbers that are not finite")
        return points, np.bincount(layout.owners, minlength=len(queries))

    def _distances(self, queries: Queries) -> Tensor:
        """Returns the distances of every query to every entity, (Q, N)."""
        points, disjuncts = self.points(queries)
        distances = self.model.space.distance_to_all(points, self._table)
        return fold_disjuncts(distances, disjuncts, self.model.combine)


def _position(name: str) -> tuple[int, str]:
    """Orders structures as the benchmark does, other structures after them by name."""
    known = list(STRUCTURES)
    return (known.index(name) if name in known else len(known)), name


def reference_filter(queries: Queries) -> Filters:
    """Returns all easy and hard answers of every query."""
    return queries.easy, queries.hard


def strict_filter(queries: Queries, larger: Graph) -> Filters:
    """Returns the answers of every query on the larger graph (train + valid for validation, everything for test)."""
    if not queries.structure.negated:
        return reference_filter(queries)
    return answer_rows(queries.structure, queries.ids, GraphPair.of(larger))
