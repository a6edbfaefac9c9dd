"""What finds candidates: the parts of an engine that were learned, each of which may be absent."""

from __future__ import annotations

from dataclasses import dataclass

from pathformer.errors import EngineError
from pathformer.index._base import Index
from pathformer.links.scorer import LinkScorer
from pathformer.plan.encoder import Encoder

__all__ = ["Finders"]


@dataclass(frozen=True, eq=False, slots=True)
class Finders:
    """Points and an index over them, for questions of any structure; evidence, for single links."""

    encoder: Encoder | None = None
    index: Index | None = None
    links: LinkScorer | None = None

    def __post_init__(self) -> None:
        if (self.encoder is None) != (self.index is None):
            raise EngineError("an encoder and an index go together: give both or neither")

    @property
    def points(self) -> tuple[Encoder, Index] | None:
        """The encoder and the index, if there are any."""
        return None if self.encoder is None or self.index is None else (self.encoder, self.index)
