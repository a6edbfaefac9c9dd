"""The candidates for the answers to one question, before anybody says how likely each is.

K candidates, N entities of the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pathformer.engine.find.exact_sets import ExactSets
from pathformer.query.tree import Tree
from pathformer.search.assignment import Assignment

__all__ = ["Candidates"]

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """The known answers of a tree and the nearest of the other entities, nearest first.

    Entities that the graph refutes (a negated part is known to hold for them) are left out.
    """

    tree: Tree
    entities: npt.NDArray[np.int64]  # (K,)
    distances: npt.NDArray[np.float32]  # (K,) ascending; of a union as the model combines its disjuncts
    known: Mask  # (K,) whether exact traversal of the given graph proves the candidate
    implausible: Mask  # (K,) whether it is a prediction unlike everything that stands there in the graph
    entity_count: int  # N
    ends: float  # log of the mean number of tails of the question's last link
    sets: ExactSets  # of the tree's parts on the given graph
    probabilities: npt.NDArray[np.float64] | None = None  # (K,) where the finder knows them, 1 for known ones
    assign: Callable[[int], Assignment | None] | None = (
        None  # gives an entity's best assignment, where they were searched
    )
    contradictory: bool = False  # whether the question denies what it asks for, so that it can have no answer

    def __len__(self) -> int:
        return len(self.entities)

    def where(self, keep: Mask) -> Candidates:
        """Returns the candidates that a mask (K,) keeps."""
        return replace(
            self,
            entities=self.entities[keep],
            distances=self.distances[keep],
            known=self.known[keep],
            implausible=self.implausible[keep],
            probabilities=None if self.probabilities is None else self.probabilities[keep],
        )

    @property
    def predicted(self) -> Mask:
        """Marks the candidates that the graph does not prove, (K,)."""
        return ~self.known

    def first_plausible(self, top: int) -> Candidates:
        """Returns the known answers and the `top` nearest plausible predictions."""
        plausible = self.predicted & ~self.implausible
        return self.where(self.known | (plausible & (np.cumsum(plausible) <= top)))
