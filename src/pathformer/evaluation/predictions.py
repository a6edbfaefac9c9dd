"""The best predictions of questions, as a user gets them, each with its probability and whether it is right.

n predictions of all questions, P of one question, at most `TOP`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.engine.calibrate.calibration import calibrate
from pathformer.engine.engine import Engine
from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.find import find
from pathformer.engine.find.finders import Finders
from pathformer.kg.graph import Graph
from pathformer.kg.schema import RelationSchema
from pathformer.querysets.queries import Queries

__all__ = ["TOP", "Judged", "find_each", "judge"]

TOP = 10  # best predictions of a question that probabilities are fitted and measured on
_AT_ONCE = 256  # trees that are searched at once


def find_each(
    asked: Queries, schema: RelationSchema, finders: Finders, top: int = TOP
) -> Iterator[tuple[int, Candidates]]:
    """Finds what an engine gives for each query, knowing the graph of `schema`: known answers and `top` predictions."""
    for first in range(0, len(asked), _AT_ONCE):
        rows = range(first, min(first + _AT_ONCE, len(asked)))
        trees = [asked.structure.tree(asked.ids[row].tolist()) for row in rows]
        for row, near in zip(rows, find(trees, schema, finders, top), strict=True):
            yield row, near.first_plausible(top)


@dataclass(frozen=True, eq=False, slots=True)
class Judged:
    """Predictions that turned out right or wrong, those of a question in order of rank."""

    probability: npt.NDArray[np.float64]  # (n,)
    right: npt.NDArray[np.bool_]  # (n,)
    rank: npt.NDArray[np.int64]  # (n,) from 1
    relation: npt.NDArray[np.int64]  # (n,) directed, of single links; -1 for those of longer questions

    @classmethod
    def join(cls, parts: Sequence[Judged]) -> Judged:
        """Puts the predictions of several questions one after the other."""
        none = np.zeros(0, np.int64)
        return cls(
            np.concatenate([np.zeros(0), *(part.probability for part in parts)]),
            np.concatenate([np.zeros(0, np.bool_), *(part.right for part in parts)]),
            np.concatenate([none, *(part.rank for part in parts)]),
            np.concatenate([none, *(part.relation for part in parts)]),
        )

    def where(self, keep: npt.NDArray[np.bool_]) -> Judged:
        """Returns the predictions that a mask (n,) keeps."""
        return Judged(self.probability[keep], self.right[keep], self.rank[keep], self.relation[keep])

    @property
    def first(self) -> Judged:
        """The first prediction of each question."""
        return self.where(self.rank == 1)

    def __len__(self) -> int:
        return len(self.right)


def judge(engine: Engine, asked: Queries, known: Graph, advance: Callable[[int], None] | None = None) -> Judged:
    """Judges what an engine predicts where `known` is what it knows: right is a hard answer.

    An easy answer that does not follow from what it knows is neither right nor wrong, and left out.
    advance: called with 1 after each question.
    """
    schema, parts = RelationSchema(known), []
    links = None if engine.links is None else engine.links.calibration
    is_link = asked.structure.name == "1p"
    for row, found in find_each(asked, schema, engine.finders):
        likely = calibrate(found, engine.calibration, schema, engine.kg.vocabulary, links).values[found.predicted]
        entities = found.entities[found.predicted]
        judged = ~np.isin(entities, asked.easy[row])
        right = np.isin(entities[judged], asked.hard[row])
        relation = np.full(len(right), asked.ids[row, 1] if is_link else -1, np.int64)
        parts.append(Judged(likely[judged], right, np.arange(1, len(right) + 1), relation))
        if advance is not None:
            advance(1)
    return Judged.join(parts)
