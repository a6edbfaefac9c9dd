"""The reason for an answer, in names: the entities its variables stand for, and the links that join them.

The graph has every link of a known answer; some links of a predicted one are assumed. Negated parts are listed as
absent: the graph does not state them. A negated part of a prediction may be contrary instead: it holds in the graph as
it is, for want of facts (a *not* stands within), and the prediction assumes that more facts would end that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pathformer.query.ast import Atom, Constant
from pathformer.query.print import text_of
from pathformer.text import percent

__all__ = ["Evidence", "Link", "Named", "Why"]

_NO_FACT = "no single fact stands out: entities like these have such links"


@dataclass(frozen=True, slots=True)
class Named:
    """An entity or relation: the name that queries use, and the label that people read."""

    name: str
    label: str
    shared: bool = False  # whether the label may also mean another entity or relation

    @property
    def distinct(self) -> str:
        """The label, or the name where the label is shared: what a formula uses."""
        return self.name if self.shared else self.label

    def __str__(self) -> str:
        return f"{self.label} ({self.name})" if self.shared else self.label


@dataclass(frozen=True, slots=True)
class Link:
    """A link `relation(subject, object)`, stated by the graph or assumed; prints as an atom of labels."""

    subject: Named
    relation: Named
    object: Named
    stated: bool  # whether the graph has the link
    rank: int | None = None  # of an assumed link: about the rank of its start when the model is asked from its end

    probability: float | None = None  # of an assumed link that was searched

    def __str__(self) -> str:
        return text_of(Atom(self.relation.distinct, Constant(self.subject.distinct), Constant(self.object.distinct)))

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "subject": self.subject.name,
            "relation": self.relation.name,
            "object": self.object.name,
            "text": str(self),
            "stated": self.stated,
            "rank": self.rank,
            "probability": self.probability,
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of evidence for a predicted link."""

    source: str  # which source of evidence names it
    text: str  # a sentence for people
    facts: tuple[str, ...]  # the facts of the graph that it rests on, as formulas
    part: float  # of the source's score for the link


@dataclass(frozen=True, slots=True)
class Why:
    """The reason for one answer; prints as a sentence."""

    bindings: Mapping[str, Named] = field(hash=False)  # variable without "?" -> entity; without the answer's variable
    links: tuple[Link, ...]
    absent: tuple[str, ...] = ()  # negated parts that the graph does not state, as formulas
    contrary: tuple[str, ...] = ()  # negated parts that hold for want of facts, as formulas
    evidence: tuple[Evidence, ...] | None = None  # for a predicted link; None where reasons are assumed links

    @property
    def stated(self) -> tuple[Link, ...]:
        """The links that the graph has."""
        return tuple(link for link in self.links if link.stated)

    @property
    def assumed(self) -> tuple[Link, ...]:
        """The links that the graph lacks."""
        return tuple(link for link in self.links if not link.stated)

    def __str__(self) -> str:
        parts = [
            ", ".join(f"?{variable} = {value}" for variable, value in self.bindings.items()),
            " & ".join(map(str, self.stated)),
            self._assumed(),
            "nothing says " + " or ".join(self.absent) if self.absent else "",
            "assuming that more facts would end " + " and ".join(self.contrary) if self.contrary else "",
        ]
        return "; ".join(part for part in parts if part)

    def _assumed(self) -> str:
        """Says which links are assumed, each with its probability where it has one, and the evidence for them."""
        evidence = "; ".join(piece.text for piece in self.evidence or ())
        if len(self.links) == 1 and self.evidence is not None:
            return evidence or _NO_FACT  # the question is the link
        links = " & ".join(
            f"{link}" if link.probability is None else f"{link} ({percent(link.probability)} %)"
            for link in self.assumed
        )
        return "; ".join(filter(None, (links and f"assuming {links}", evidence)))

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "text": str(self),
            "bindings": {
                variable: {"entity": value.name, "label": value.label} for variable, value in self.bindings.items()
            },
            "links": [link.to_dict() for link in self.links],
            "absent": list(self.absent),
            "contrary": list(self.contrary),
            "evidence": [asdict(piece) for piece in self.evidence or ()],
        }
