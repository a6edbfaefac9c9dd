"""A trained model against held-out questions: figures a structure, probabilities, and how far they hold.

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
from pathformer.engine.find.find import find
from pathformer.index._base import Index
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.schema import RelationSchema
from pathformer.plan.encoder import Encoder
from pathformer.querysets.queries import Queries

__all__ = ["TOP", "Judged", "all_but", "find_predictions", "fit_calibration", "judge_calibration"]

TOP = 10  # best predictions of a query that probabilities are fitted on and judged by
_AT_ONCE = 256  # trees


@dataclass(frozen=True, eq=False)
class Judged:
    """What was found for some queries, and which predictions were right."""

    found: tuple[Candidates, ...]
    right: tuple[npt.NDArray[np.bool_], ...]  # (P,) a query


def all_but(kg: KnowledgeGraph, part: str) -> Graph:
    """Everything but one part, as an engine in service knows everything but what is missing.

    Were the other held-out part missing too, what it makes true would count as wrong: of the predictions that are right
    a good model would be told that half are wrong. It is known instead, and counts as neither.
    """
    triples = np.concatenate([rows for name, rows in kg.splits.items() if name != part])
    return Graph.from_triples(triples, kg.vocabulary.entity_count, kg.vocabulary.relation_count)


def find_predictions(
    queries: Mapping[str, Queries], graph: Graph, encoder: Encoder, index: Index, top: int = TOP
) -> Judged:
    """Search and choose as the engine does, knowing `graph` only; right is what queries hold as a missing answer."""
    schema = RelationSchema(graph)
    found: list[Candidates] = []
    right: list[npt.NDArray[np.bool_]] = []
    for asked in queries.values():
        for first in range(0, len(asked), _AT_ONCE):
            rows = range(first, min(first + _AT_ONCE, len(asked)))
            trees = [asked.structure.tree(asked.ids[row].tolist()) for row in rows]
            for row, near in zip(rows, find(trees, schema, encoder, index, top), strict=True):
                one = near.first_plausible(top)
                found.append(one)
                right.append(np.isin(one.entities[one.predicted], asked.hard[row]))
    return Judged(tuple(found), tuple(right))


def fit_calibration(*judged: Judged) -> Calibration:
    """Probabilities that hold for these queries."""
    found = [one for part in judged for one in part.found]
    return Calibration.fit(found, [one for part in judged for one in part.right])


def judge_calibration(calibration: Calibration, judged: Judged) -> Reliability:
    """Whether probabilities hold for other queries."""
    given = [calibration.probabilities(one)[one.predicted] for one in judged.found]
    empty: npt.NDArray[np.float64] = np.zeros(0)
    return reliability(np.concatenate([empty, *given]), np.concatenate([np.zeros(0, np.bool_), *judged.right]))
