"""Two nested graphs in one index: the edges of the larger graph, each marked if the smaller graph has it too.

Easy answers follow from the smaller graph, hard answers need edges that only the larger one has. One traversal of the
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
    """A larger graph and the part of it that a smaller graph has.

    Without a smaller graph every edge is known: all answers are easy, and there are no hard ones.
    """

    large: Graph
    known: npt.NDArray[np.bool_]  # (E,) which edges of the larger graph the smaller one has
    nested: bool  # whether a smaller graph was given
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, large: Graph, small: Graph | None = None) -> GraphPair:
        """Marks the edges of `large` that `small` has; fails if `small` is not a part of `large`."""
        if small is None:
            return cls(large, np.ones(large.edges, np.bool_), nested=False)
        known = _is_in(_keys(large), _keys(small))
        if known.sum() != small.edges:
            raise BenchmarkError(
                f"the smaller graph is not a part of the larger: {small.edges - int(known.sum()):,} of its "
                f"{small.edges:,} directed edges are not there"
            )
        return cls(large, known, nested=True)

    def starts(self) -> npt.NDArray[np.int32]:
        """Returns the entities of the larger graph that have an edge: a walk may start from them."""
        return np.flatnonzero(np.diff(self.large.head_ptr) > 0).astype(np.int32)

    def edges(self) -> Edges:
        """Returns the arrays that compiled code reads; they are made once."""
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
    """Returns one ascending number for every edge."""
    pairs = (graph.heads_of().astype(np.int64) * graph.relations + graph.pair_relation) * graph.entities
    keys: npt.NDArray[np.int64] = np.repeat(pairs, np.diff(graph.pair_ptr))
    keys += graph.tails
    return keys


def _is_in(keys: npt.NDArray[np.int64], among: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether each key is among others; both ascending."""
    if not len(among):
        return np.zeros(len(keys), np.bool_)
    positions = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return np.equal(among[positions], keys)
