"""Ranks by search: no model, but a table of links and what its links say together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.evaluation.evaluate import ScoreRanker
from pathformer.kg.graph import Graph
from pathformer.links.table import MEMORY, Rows
from pathformer.querysets.queries import Queries
from pathformer.search.optimise import score
from pathformer.search.presets import Preset

__all__ = ["SearchRanker", "SearchScorer"]


class SearchScorer:
    """Scores entities by the best assignment of every variable."""

    def __init__(self, preset: Preset, scores: Rows, facts: Graph, memory: int = MEMORY) -> None:
        """scores: of single links, as the preset expects them; facts: those that may be read; memory: of kept rows."""
        self.settings, self.entities = preset.search, facts.entities
        self.table = preset.table(scores, facts, memory)

    def scores(self, queries: Queries) -> npt.NDArray[np.float32]:
        """Returns the score of every entity for every query, (Q, N)."""
        return score([queries.structure.tree(row) for row in queries.ids.tolist()], self.table, self.settings)


class SearchRanker(ScoreRanker):
    """Ranks all entities by their best assignments; say in the report which facts were read."""

    def __init__(self, preset: Preset, scores: Rows, facts: Graph, memory: int = MEMORY) -> None:
        super().__init__(SearchScorer(preset, scores, facts, memory))
