"""Ranks by search: no model, but a table of links and what its links say together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.evaluation.evaluate import ScoreRanker
from pathformer.kg.graph import Graph
from pathformer.links.table import MEMORY, LinkTable, Rows
from pathformer.querysets.queries import Queries
from pathformer.search.optimise import score
from pathformer.search.presets import Preset
from pathformer.search.settings import SearchSettings

__all__ = ["SearchRanker", "SearchScorer"]


class SearchScorer:
    """Scores entities by the best assignment of every variable."""

    def __init__(self, table: LinkTable, settings: SearchSettings | None = None) -> None:
        """settings: of the search, by default those that an engine searches with."""
        self.table, self.settings, self.entities = table, settings, table.entities

    def scores(self, queries: Queries) -> npt.NDArray[np.float32]:
        """Returns the score of every entity for every query, (Q, N)."""
        return score([queries.structure.tree(row) for row in queries.ids.tolist()], self.table, self.settings)


class SearchRanker(ScoreRanker):
    """Ranks all entities by their best assignments; say in the report which facts were read."""

    def __init__(self, preset: Preset, scores: Rows, facts: Graph, memory: int = MEMORY) -> None:
        """scores: of single links, as the preset expects them; facts: those that may be read; memory: of kept rows."""
        super().__init__(SearchScorer(preset.table(scores, facts, memory), preset.search))
