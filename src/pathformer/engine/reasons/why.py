"""Why an answer is one: what its variables stand for, and the edges that join them.

For a known answer every edge is in the graph; for a predicted one some are assumed. What a negated part denies is
listed as absent: the graph does not state it. Of a prediction it may be contrary instead: a part with a
*not* within holds for want of facts, as the graph is, and the prediction takes it that more of them would end that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pathformer.query.ast import Atom, Constant
from pathformer.query.print import text_of

__all__ = ["Edge", "Named", "Why"]


@dataclass(frozen=True, slots=True)
class Named:
    """An entity or relation: the name that queries use, and the label that people read."""

    name: str
    label: str
    shared: bool = False  # the label is another one's, too, or a question takes it for another one's name

    @property
    def distinct(self) -> str:
        """What it is called in a formula: its label, where that says which one is meant."""
        return self.name if self.shared else self.label

    def __str__(self) -> str:
        return f"{self.label} ({self.name})" if self.shared else self.label


@dataclass(frozen=True, slots=True)
class Edge:
    """`relation(subject, object)`, stated by the graph or assumed; prints as an atom of labels (names where shared)."""

    subject: Named
    relation: Named
    object: Named
    exists: bool
    rank: int | None = None  # of an assumed edge: about where the model, asked from its far end, ranks its near one

    def __str__(self) -> str:
        return text_of(Atom(self.relation.distinct, Constant(self.subject.distinct), Constant(self.object.distinct)))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "subject": self.subject.name,
            "relation": self.relation.name,
            "object": self.object.name,
            "text": str(self),
            "exists": self.exists,
            "rank": self.rank,
        }


@dataclass(frozen=True, slots=True)
class Why:
    """The reason for one answer; reads as a sentence."""

    bindings: Mapping[str, Named] = field(hash=False)  # variables by name, without ?, the answer's left out
    edges: tuple[Edge, ...]
    absent: tuple[str, ...] = ()  # what negated parts deny and the graph does not state, as formulas
    contrary: tuple[str, ...] = ()  # what they deny and the graph has as it is, for want of facts that would end it

    @property
    def stated(self) -> tuple[Edge, ...]:
        """The edges that the graph has."""
        return tuple(edge for edge in self.edges if edge.exists)

    @property
    def assumed(self) -> tuple[Edge, ...]:
        """The edges that it has not."""
        return tuple(edge for edge in self.edges if not edge.exists)

    def __str__(self) -> str:
        parts = [
            ", ".join(f"?{variable} = {value}" for variable, value in self.bindings.items()),
            " & ".join(map(str, self.stated)),
            "assuming " + " & ".join(map(str, self.assumed)) if self.assumed else "",
            "nothing says " + " or ".join(self.absent) if self.absent else "",
            "assuming that more facts would end " + " and ".join(self.contrary) if self.contrary else "",
        ]
        return "; ".join(part for part in parts if part)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "text": str(self),
            "bindings": {
                variable: {"entity": value.name, "label": value.label} for variable, value in self.bindings.items()
            },
            "edges": [edge.to_dict() for edge in self.edges],
            "absent": list(self.absent),
            "contrary": list(self.contrary),
        }
