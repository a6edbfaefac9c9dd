"""Two nested graphs in one index: the larger one's edges, each marked with whether the smaller has it too.

Easy answers hang on the smaller graph, hard ones on what the larger adds (`protocol`: answers). One traversal of the marked
edges finds both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pathformer.errors import BenchmarkError
from pathformer.kg.graph import Graph

if TYPE_CHECKING:
    from pathformer.symbolic.kernels.evaluate import Edges

__all__ = ["GraphPair"]


@dataclass(frozen=True, eq=False, slots=True)
class GraphPair:
    """A larger graph and the part of it that a smaller one knows.

    Without a smaller graph every edge is known: easy answers are all answers, and there are no hard ones.
    """

    large: Graph
    known: npt.NDArray[np.bool_]  # (E,) of the larger graph's edges
    nested: bool  # whether a smaller graph was given
    _cache: dict[bool, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, large: Graph, small: Graph | None = None) -> GraphPair:
        """Mark the edges of `large` that `small` has; refuse a smaller graph that is no part of the larger."""
        if small is None:
            return cls(large, np.ones(large.edges, np.bool_), nested=False)
        known = _inside(_keys(large), _keys(small))
        if known.sum() != small.edges:
            raise BenchmarkError(
                f"the smaller graph is not a part of the larger: {small.edges - int(known.sum()):,} of its "
                f"{small.edges:,} directed edges are not there"
            )
        return cls(large, known, nested=True)

    def starts(self) -> npt.NDArray[np.int32]:
        """The entities of the larger graph that have an edge: where a walk may start."""
        return np.flatnonzero(np.diff(self.large.head_ptr) > 0).astype(np.int32)

    def edges(self, by_relation: bool = False) -> Edges:
        """The arrays that compiled code reads; pairs grouped by relation only where a program needs them."""
        from pathformer.symbolic.kernels.evaluate import BOTH, LARGE, Edges

        if by_relation not in self._cache:
            graph = self.large
            nothing = np.empty(0, np.int64)
            order, ptr, heads = _by_relation(graph) if by_relation else (nothing, nothing, np.empty(0, np.int32))
            self._cache[by_relation] = Edges(
                head_ptr=np.asarray(graph.head_ptr),
                pair_relation=np.asarray(graph.pair_relation),
                pair_ptr=np.asarray(graph.pair_ptr),
                tails=np.asarray(graph.tails),
                bits=np.where(self.known, BOTH, LARGE),
                relation_ptr=ptr,
                by_relation=order,
                pair_head=heads,
            )
        return self._cache[by_relation]  # type: ignore[no-any-return]


def _keys(graph: Graph) -> npt.NDArray[np.int64]:
    """Every edge as one ascending number."""
    heads = np.repeat(np.arange(graph.entities, dtype=np.int64), np.diff(graph.head_ptr))
    pairs = heads * graph.relations + graph.pair_relation
    return np.repeat(pairs * graph.entities, np.diff(graph.pair_ptr)) + graph.tails


def _inside(keys: npt.NDArray[np.int64], among: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    if not len(among):
        return np.zeros(len(keys), np.bool_)
    places = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return among[places] == keys


def _by_relation(graph: Graph) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    order = np.argsort(graph.pair_relation, kind="stable").astype(np.int64)
    ptr = np.zeros(graph.relations + 1, np.int64)
    np.cumsum(np.bincount(graph.pair_relation, minlength=graph.relations), out=ptr[1:])
    heads = np.repeat(np.arange(graph.entities, dtype=np.int32), np.diff(graph.head_ptr))
    return order, ptr, heads
