"""The predictions of held-out questions: which are right, the probabilities fitted on them, and how reliable these are.

P predictions of a query, at most `TOP`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.reliability import Reliability, reliability
from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.finders import Finders
from pathformer.evaluation.predictions import TOP, find_each
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.schema import RelationSchema
from pathformer.querysets.queries import Queries

__all__ = [
    "HeldOutPredictions",
    "find_predictions",
    "fit_calibration",
    "graph_without",
    "measure_reliability",
]


@dataclass(frozen=True, eq=False)
class HeldOutPredictions:
    """The candidates of some held-out queries, and which predictions were right."""

    candidates: tuple[Candidates, ...]
    right: tuple[npt.NDArray[np.bool_], ...]  # (P,) a query


def graph_without(kg: KnowledgeGraph, part: str) -> Graph:
    """Returns the graph without one held-out part, as an engine in service knows all but what is missing.

    The other held-out part stays: without it, half of a good model's right predictions would count as wrong.
    """
    triples = np.concatenate([rows for name, rows in kg.splits.items() if name != part])
    return Graph.from_triples(triples, kg.vocabulary.entity_count, kg.vocabulary.relation_count)


def find_predictions(
    queries: Mapping[str, Queries], graph: Graph, finders: Finders, top: int = TOP
) -> HeldOutPredictions:
    """Finds what the engine would predict, knowing `graph` only; right is what a query holds as a missing answer."""
    schema = RelationSchema(graph)
    candidates: list[Candidates] = []
    right: list[npt.NDArray[np.bool_]] = []
    for asked in queries.values():
        for row, one in find_each(asked, schema, finders, top):
            candidates.append(one)
            right.append(np.isin(one.entities[one.predicted], asked.hard[row]))
    return HeldOutPredictions(tuple(candidates), tuple(right))


def fit_calibration(*predictions: HeldOutPredictions) -> Calibration:
    """Fits probabilities on the predictions of held-out queries, of those that do not have their own."""
    pairs = [pair for part in predictions for pair in zip(part.candidates, part.right, strict=True)]
    fitted = [(one, right) for one, right in pairs if one.probabilities is None]
    return Calibration.fit([one for one, _ in fitted], [right for _, right in fitted])


def measure_reliability(calibration: Calibration, predictions: HeldOutPredictions) -> Reliability:
    """Compares probabilities with what is right, on queries that they were not fitted on."""
    given = [
        (calibration.probabilities(one) if one.probabilities is None else one.probabilities)[one.predicted]
        for one in predictions.candidates
    ]
    empty: npt.NDArray[np.float64] = np.zeros(0)
    return reliability(np.concatenate([empty, *given]), np.concatenate([np.zeros(0, np.bool_), *predictions.right]))
