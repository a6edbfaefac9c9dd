"""The exact sets of a question: which entities answer it, and each part of it, on one graph.

They are computed once, when they are first needed, and handed from stage to stage.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.kg.graph import Graph
from pathformer.query.tree import Negation, Tree
from pathformer.symbolic.answer import answer

__all__ = ["ExactSets"]


class ExactSets:
    """The exact answers of the parts of one tree on a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._sets: dict[Tree, npt.NDArray[np.int32]] = {}

    def of(self, tree: Tree) -> npt.NDArray[np.int32]:
        """Returns the entities of a part, ascending."""
        if tree not in self._sets:
            self._sets[tree] = answer(tree, self.graph)
        return self._sets[tree]

    def contains(self, tree: Tree, entities: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Whether each entity is in the set of a part."""
        if isinstance(tree, Negation):  # its set is nearly every entity: the part below is smaller
            return ~self.contains(tree.of, entities)
        members = self.of(tree)
        if not len(members):
            return np.zeros(len(entities), bool)
        positions = np.minimum(np.searchsorted(members, entities), len(members) - 1)
        inside: npt.NDArray[np.bool_] = members[positions] == entities
        return inside
