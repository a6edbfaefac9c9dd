"""How near an entity is, as plain data: the L1 norm, the angle or the inner product of two rows of numbers.

p a point, e an entity, rows of one width.

    l1       |p - e|_1
    cosine   scale (1 - <p, e> / (|p| |e|))
    inner    offset - <p, e>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

from pathformer.errors import InputError

__all__ = ["Kind", "Measure"]

Kind = Literal["l1", "cosine", "inner"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A distance between two rows of numbers."""

    kind: Kind
    scale: float = 1.0  # of cosine
    offset: float = 0.0  # of inner: the distance at right angles

    @classmethod
    def of(cls, measure: str | Measure) -> Measure:
        """Returns a measure by its name, or the measure that is given."""
        if isinstance(measure, Measure):
            return measure
        if measure not in get_args(Kind):
            raise InputError(f"no measure {measure!r}; there are {', '.join(get_args(Kind))}")
        return cls(cast(Kind, measure))

    @property
    def as_inner(self) -> Measure | None:
        """The same distance of rows whose product is the scaled cosine already; None for the L1 norm."""
        match self.kind:
            case "cosine":
                return Measure("inner", offset=self.scale)
            case "inner":
                return self
        return None
