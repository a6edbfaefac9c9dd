"""Statistics of a graph's relations: what stands at their ends, and how many.

R directed relations of the graph. Entities have no types here; what tells their kind is which directed relations they
have. The relations *beside* a relation are all relations of the entities that it leaves, itself among them. Two
entities are *alike* where one has the most common relations of the other.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from pathformer.kg.graph import Graph

__all__ = ["RelationSchema"]

_SCANNED = 64  # relations whose pairs are looked for one by one; for more of them all pairs are sorted once
_KEPT = 2048  # rows of relations beside a relation that are kept, R bytes each


class RelationSchema:
    """Statistics of the ends of a graph's relations, each computed when it is first asked for and kept."""

    def __init__(self, graph: Graph, *, several: int = 10, scanned: int = _SCANNED, kept: int = _KEPT) -> None:
        """several: entities that are enough to draw a conclusion from."""
        self.graph = graph
        self._several, self._scanned, self._kept = several, scanned, kept
        self._beside: dict[int, npt.NDArray[np.bool_]] = {}
        self._starts: dict[int, npt.NDArray[np.int32]] = {}
        self._itself: dict[int, bool] = {}

    def relations_beside(self, relation: int) -> npt.NDArray[np.bool_]:
        """(R,) which relations the entities have that a directed relation leaves."""
        beside = self._beside.get(relation)
        if beside is None:
            if len(self._beside) >= self._kept:
                self._beside.clear()  # perhaps while another thread asks
            beside = self._beside[relation] = self._find_beside(relation)
        return beside

    def _find_beside(self, relation: int) -> npt.NDArray[np.bool_]:
        heads = self.starts(relation)
        first, counts = self.graph.head_ptr[heads], self.graph.head_ptr[heads + 1] - self.graph.head_ptr[heads]
        beside = np.zeros(self.graph.relations, np.bool_)
        beside[self.graph.pair_relation[_runs(first, counts)]] = True
        return beside

    def starts(self, relation: int) -> npt.NDArray[np.int32]:
        """The entities that a directed relation leaves, ascending."""
        if relation not in self._starts:
            few = len(self._starts) < self._scanned
            pairs = np.flatnonzero(self.graph.pair_relation == relation) if few else self._pairs[relation]
            self._starts[relation] = self.graph.heads_of(pairs)
        return self._starts[relation]

    @cached_property
    def _pairs(self) -> list[npt.NDArray[np.int64]]:
        """The positions of the (head, relation) pairs of every relation, ascending."""
        ends = np.cumsum(np.bincount(self.graph.pair_relation, minlength=self.graph.relations))
        return np.split(np.argsort(self.graph.pair_relation, kind="stable"), ends[:-1])

    def count_alike(self, entity: int, relation: int) -> tuple[int, int]:
        """Returns how many other entities are like an entity, and how many of them have a relation.

        Alike are those that have its relations, the most common first, as long as several have them all.
        """
        own = sorted((self.starts(each) for each in self.graph.relations_of(entity).tolist()), key=len, reverse=True)
        others = np.empty(0, np.int32)
        for position, starts in enumerate(own):
            fewer = starts[np.isin(starts, others, kind="table")] if position else starts[starts != entity]
            if len(fewer) < self._several:
                break
            others = fewer
        return len(others), int(np.isin(others, self.starts(relation), kind="table").sum())

    @cached_property
    def log_mean_tails(self) -> npt.NDArray[np.float64]:
        """(R,) the log of the mean number of tails, over the heads that have any; 0 for a relation without edges."""
        relation, size = self.graph.pair_relation, self.graph.relations
        pairs = np.bincount(relation, minlength=size)
        edges = np.bincount(relation, weights=np.diff(self.graph.pair_ptr), minlength=size)
        means: npt.NDArray[np.float64] = np.log(np.maximum(edges, 1.0) / np.maximum(pairs, 1))
        return means

    def share_at_both_ends(self, relation: int) -> float:
        """The share of the entities a directed relation enters that it also leaves: high for `sibling`."""
        entered = self.starts(relation ^ 1)
        return float(np.isin(entered, self.starts(relation), kind="table").sum() / max(len(entered), 1))

    def may_link_to_itself(self, relation: int) -> bool:
        """Whether a relation leads from any entity to itself, or has too few entities to tell.

        Both directions have one answer, by the end with more entities: if none of a hundred departments is a part of
        itself, nor are the two divisions that they are parts of.
        """
        forward = relation & ~1
        if forward not in self._itself:
            pairs = np.flatnonzero(self.graph.pair_relation == forward)
            first, counts = self.graph.pair_ptr[pairs], self.graph.pair_ptr[pairs + 1] - self.graph.pair_ptr[pairs]
            tails = self.graph.tails[_runs(first, counts)]
            itself = bool((tails == np.repeat(self.graph.heads_of(pairs), counts)).any())
            self._itself[forward] = itself or max(len(pairs), len(np.unique(tails))) < self._several
        return self._itself[forward]


def _runs(first: npt.NDArray[np.integer], counts: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Runs of consecutive numbers, one behind the other: so many from each first one on."""
    runs: npt.NDArray[np.int64] = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    return runs
