"""A link predictor's tables: ComplEx, one vector of C^r an entity and a relation, learned in `fitting/link_predictor`.

score(h, r, t) = Re sum_i h_i r_i conj(t_i)
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from pathformer.files.arrays import map_array
from pathformer.kg.graph import Graph
from pathformer.links.evidence._base import Evidence, Ids, Scores
from pathformer.plan.encoder import Encoder

__all__ = ["EVIDENCE", "Embedding"]

Table = npt.NDArray[np.float32]


class Embedding(Evidence):
    """ComplEx in the service of single links."""

    name: ClassVar[str] = "embedding"

    def __init__(self, entities: Table, relations: Table) -> None:
        """entities (N, 2 r), relations (R, 2 r): real parts, then imaginary ones."""
        self.entities, self.relations = entities, relations

    def rows(self, heads: Ids, relation: int) -> Scores:
        """Returns the score of every entity as the tail of each head, (B, N)."""
        h, r = self.entities[heads], self.relations[relation]
        (h_re, h_im), (r_re, r_im) = np.split(h, 2, axis=-1), np.split(r, 2)
        product = np.concatenate([h_re * r_re - h_im * r_im, h_re * r_im + h_im * r_re], axis=-1)
        scores: Scores = product @ self.entities.T
        return scores

    def on(self, graph: Graph) -> Self:
        """Returns the same tables; a new entity has the mean row, a new relation zeros, which say nothing."""
        new, more = graph.entities - len(self.entities), graph.relations - len(self.relations)
        if not new and not more:
            return self
        mean = np.broadcast_to(self.entities.mean(axis=0), (new, self.entities.shape[1]))
        zeros = np.zeros((more, self.relations.shape[1]), np.float32)
        return type(self)(np.concatenate([self.entities, mean]), np.concatenate([self.relations, zeros]))

    def save(self, folder: Path) -> None:
        """Writes the tables."""
        np.save(folder / "entities.npy", self.entities)
        np.save(folder / "relations.npy", self.relations)

    @classmethod
    def open(cls, folder: Path, graph: Graph, encoder: Encoder | None) -> Self:
        """Maps the tables."""
        tables = [map_array(folder / f"{name}.npy", kind="f4") for name in ("entities", "relations")]
        if [len(table) for table in tables] != [graph.entities, graph.relations]:
            raise ValueError("the tables of the embedding are not those of the graph")
        return cls(*tables)


EVIDENCE = Embedding
