"""Two nested graphs in one index: the larger one's edges, each marked with whether the smaller has it too.

Easy answers hang on the smaller graph, hard ones on what the larger adds (`protocol`: answers). One traversal of the
marked edges finds both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.errors import BenchmarkError
from pathformer.kg.graph import Graph
from pathformer.symbolic.kernels.program import BOTH, LARGE, Edges

__all__ = ["GraphPair"]


@dataclass(frozen=True, eq=False, slots=True)
class GraphPair:
    """A larger graph and the part of it that a smaller one knows.

    Without a smaller graph every edge is known: easy answers are all answers, and there are no hard ones.
    """

    large: Graph
    known: npt.NDArray[np.bool_]  # (E,) of the larger graph's edges
    nested: bool  # whether a smaller graph was given
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

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

    def edges(self) -> Edges:
        """The arrays that compiled code reads, made once."""
        if "edges" not in self._cache:
            graph = self.large
            order = np.argsort(graph.pair_relation, kind="stable")
            relation_ptr = np.zeros(graph.relations + 1, np.int64)
            np.cumsum(np.bincount(graph.pair_relation, minlength=graph.relations), out=relation_ptr[1:])
            self._cache["edges"] = Edges(
                head_ptr=np.asarray(graph.head_ptr),
                pair_relation=np.asarray(graph.pair_relation),
                pair_ptr=np.asarray(graph.pair_ptr),
                tails=np.asarray(graph.tails),
                bits=np.where(self.known, BOTH, LARGE),
                relation_ptr=relation_ptr,
                relation_head=graph.heads_of()[order],
                relation_pair=order.astype(np.int64, copy=False),
            )
        return self._cache["edges"]  # type: ignore[no-any-return]


def _keys(graph: Graph) -> npt.NDArray[np.int64]:
    """Every edge as one ascending number."""
    pairs = (graph.heads_of().astype(np.int64) * graph.relations + graph.pair_relation) * graph.entities
    keys: npt.NDArray[np.int64] = np.repeat(pairs, np.diff(graph.pair_ptr))
    keys += graph.tails
    return keys


def _inside(keys: npt.NDArray[np.int64], among: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which keys are among others; both ascending."""
    if not len(among):
        return np.zeros(len(keys), np.bool_)
    places = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return np.equal(among[places], keys)
