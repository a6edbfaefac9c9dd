"""What finds candidates: the parts of an engine that were learned, each of which may be absent."""

from __future__ import annotations

from dataclasses import dataclass, field

from pathformer.errors import EngineError
from pathformer.index._base import Index
from pathformer.kg.graph import Graph
from pathformer.links.scorer import LinkScorer
from pathformer.links.table import LinkTable
from pathformer.plan.encoder import Encoder

__all__ = ["Finders"]

_WHOLE = 5_000  # most entities of a graph whose rows are kept whole
_THRESHOLD = 1e-3  # in larger graphs links that are less likely are not followed


@dataclass(frozen=True, eq=False, slots=True)
class Finders:
    """Points and an index over them; evidence for single links, over which longer questions can be searched."""

    encoder: Encoder | None = None
    index: Index | None = None
    links: LinkScorer | None = None
    search: bool = True  # whether longer questions are searched over the links, where there are any
    _tables: dict[Graph, LinkTable] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if (self.encoder is None) != (self.index is None):
            raise EngineError("an encoder and an index go together: give both or neither")

    @property
    def points(self) -> tuple[Encoder, Index] | None:
        """The encoder and the index, if there are any."""
        return None if self.encoder is None or self.index is None else (self.encoder, self.index)

    def table(self, facts: Graph) -> LinkTable | None:
        """Returns the table of links that longer questions are searched over, if they are; facts: they count 1."""
        if self.links is None or (self.points is not None and not self.search):
            return None
        if facts not in self._tables:
            self._tables.clear()  # one graph is asked at a time
            threshold = 0.0 if facts.entities <= _WHOLE else _THRESHOLD
            self._tables[facts] = LinkTable(facts, self.links.rows, threshold=threshold)
        return self._tables[facts]
