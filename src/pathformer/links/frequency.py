"""A baseline that reads nothing but counts: the answers a question's last relations usually have.

An entity's score is the sum, over the branches that meet at the answer, of log(1 + edges of the branch's last relation
into it); a negated branch says nothing; of a union, the best disjunct counts. Anchors are never looked at, so a model
that does not beat this has learnt no more than which entities go with which relation.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.kg.graph import Graph
from pathformer.plan.build import decompose
from pathformer.query.compile.paths import Fork, Path
from pathformer.query.structures import NEGATION
from pathformer.querysets.queries import Queries

__all__ = ["Frequency"]


class Frequency:
    """Scores entities by counts on a graph, usually the train graph."""

    def __init__(self, graph: Graph) -> None:
        self.entities = graph.entities
        # Edges of r into e are the edges of its inverse out of e: pairs in the order of r.
        relation = graph.pair_relation ^ 1
        order = np.argsort(relation, kind="stable")
        self._ptr = np.searchsorted(relation[order], np.arange(graph.relations + 1))
        self._entity = graph.heads_of()[order]
        self._score = np.log1p(np.diff(graph.pair_ptr))[order].astype(np.float32)  # log(1 + edges of r into e)

    def scores(self, queries: Queries) -> npt.NDArray[np.float32]:
        """Returns the score of every entity for every query, (Q, N)."""
        disjuncts = [self._scores(disjunct, queries.ids) for disjunct in decompose(queries.structure)]
        best: npt.NDArray[np.float32] = np.maximum.reduce(disjuncts)
        return best

    def _scores(self, query: Path | Fork, ids: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        if isinstance(query, Fork):
            branches = [self._scores(branch, ids) for branch in query.branches]
            together: npt.NDArray[np.float32] = np.add.reduce(branches)
            return together
        last = query.operators[-1]  # a column of ids, or a negation
        if last == NEGATION:
            return np.zeros((len(ids), self.entities), np.float32)
        return np.stack([self.row(relation) for relation in ids[:, last].tolist()])

    def row(self, relation: int) -> npt.NDArray[np.float32]:
        """Returns log(1 + edges of a relation into e) for every entity e, (N,)."""
        edges = slice(self._ptr[relation], self._ptr[relation + 1])
        row = np.zeros(self.entities, np.float32)
        row[self._entity[edges]] = self._score[edges]
        return row
