"""Counts: how often each entity is a tail of the relation, whatever the head is."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from pathformer.kg.graph import Graph
from pathformer.links.evidence._base import Evidence, Ids, Scores
from pathformer.links.frequency import Frequency
from pathformer.plan.encoder import Encoder

__all__ = ["EVIDENCE", "Counts"]


class Counts(Evidence):
    """The counting baseline as a source of evidence."""

    name: ClassVar[str] = "counts"

    def __init__(self, graph: Graph) -> None:
        self._frequency = Frequency(graph)

    def rows(self, heads: Ids, relation: int) -> Scores:
        """Returns the score of every entity as the tail of each head, (B, N)."""
        return np.broadcast_to(self._frequency.row(relation), (len(heads), self._frequency.entities))

    def on(self, graph: Graph) -> Self:
        """Counts the tails of another graph."""
        return type(self)(graph)

    def save(self, folder: Path) -> None:
        """Writes nothing: the graph says it all."""

    @classmethod
    def open(cls, folder: Path, graph: Graph, encoder: Encoder | None) -> Self:
        """Counts the tails of the graph anew."""
        return cls(graph)


EVIDENCE = Counts
