"""What a search found for one query, before anybody says how likely it is.

K entities found, N entities of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pathformer.query.tree import Tree

__all__ = ["Candidates"]


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """The known answers of a query and the nearest of the other entities, nearest first.

    What the graph refutes (an entity that a negated part is known to hold for) is not among them.
    """

    tree: Tree
    entities: npt.NDArray[np.int64]  # (K,)
    distances: npt.NDArray[np.float32]  # (K,) ascending; of a union as the model combines its disjuncts
    known: npt.NDArray[np.bool_]  # (K,) whether exact traversal of the given graph proves it
    entity_count: int  # N
    ends: float  # log of how many ends the question's last link usually has (`Kinds.ends`)

    def __len__(self) -> int:
        return len(self.entities)

    def where(self, keep: npt.NDArray[np.bool_]) -> Candidates:
        """Those that a mask (K,) keeps."""
        return replace(self, entities=self.entities[keep], distances=self.distances[keep], known=self.known[keep])

    @property
    def predicted(self) -> npt.NDArray[np.bool_]:
        """(K,) the others."""
        return ~self.known
