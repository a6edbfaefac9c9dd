"""The settings of search: how beliefs are joined, what a negation means, and how much is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pathformer.errors import ConfigError
from pathformer.search.norms import NORMS, Norm

__all__ = ["NormName", "SearchSettings"]

NormName = Literal["product", "goedel", "lukasiewicz"]


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How search answers a query.

    negation: of a part with belief T. `answers` takes the complement of its best assignment, 1 - max_u f(u, v): no
    assignment makes the part true. `links` takes the complement of the negated link inside the maximum,
    max_u T(u) (1 - M(u, v)): some assignment makes the rest of the part true and its last link false (QTO). From an
    anchor both are the same.
    """

    norm: NormName = "product"
    width: int | None = 64  # most entities of a variable whose predicted links are followed; None: all of them
    negation: Literal["answers", "links"] = "answers"
    negation_scale: float = 1.0  # s: a negated relation counts 1 - min(1, s p); QTO has 3 and 6

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise ConfigError(f"there is no t-norm {self.norm!r}: the known ones are {', '.join(NORMS)}")
        if self.width is not None and self.width < 1:
            raise ConfigError(f"the width of the search is {self.width}: it must be at least 1, or none for all")
        if self.negation_scale <= 0:
            raise ConfigError(f"the scale of negated links is {self.negation_scale}: it must be above 0")

    @property
    def join(self) -> type[Norm]:
        """The t-norm that joins beliefs."""
        return NORMS[self.norm]
