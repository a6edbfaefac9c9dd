"""Named ways to search: ours, and the published ones that are settings of it.

`search` expects probabilities that are calibrated already. The others make them of raw scores in their papers' ways:

| preset | M of a link that is no fact | facts | width | t-norm | negation |
|---|---|---|---|---|---|
| search | p | 1 | 64 | product | 1 - T |
| qto | min(0.9999, softmax x known tails), 0 up to 0.0002 | 1 | all | product | links, 1 - min(1, 3 p) |
| cqd-beam | sigmoid | not read | 64 | product | 1 - T |
| cqd-hybrid | sigmoid | 1 | 64 | product | 1 - T |

The papers are silent, or differ by graph, where a preset must choose: QTO has the scale 6 on NELL995 and the threshold
0.001 on FB15k; CQD takes product or minimum (`goedel`), whichever is better on validation, and has no negation: that of
CQD-A is here. CQD keeps its 64 best for each candidate of the variable before, search 64 of a variable in all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pathformer.kg.graph import Graph
from pathformer.links.squash import Squash, squash
from pathformer.links.table import MEMORY, LinkTable, Rows
from pathformer.search.settings import SearchSettings

__all__ = ["PRESETS", "Preset"]


@dataclass(frozen=True, kw_only=True)
class Preset:
    """How the table of links is made, and how it is searched."""

    search: SearchSettings = field(default_factory=SearchSettings)
    squash: Squash = "none"  # what makes probabilities of raw scores
    threshold: float = 0.0  # predicted links up to it count as absent
    reads_facts: bool = True  # whether facts count 1

    def table(self, scores: Rows, facts: Graph, memory: int = MEMORY) -> LinkTable:
        """Returns the table of links over raw scores; facts: of the graph that may be read."""
        probabilities = squash(scores, self.squash, facts)
        if not self.reads_facts:
            facts = Graph.from_triples(np.empty((0, 3), np.int64), facts.entities, facts.relations)
        return LinkTable(facts, probabilities, threshold=self.threshold, memory=memory)


PRESETS: dict[str, Preset] = {
    "search": Preset(),
    "qto": Preset(
        search=SearchSettings(width=None, negation="links", negation_scale=3.0), squash="softmax", threshold=0.0002
    ),
    "cqd-beam": Preset(squash="sigmoid", reads_facts=False),
    "cqd-hybrid": Preset(squash="sigmoid"),
}
