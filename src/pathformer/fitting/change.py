"""What an update changed in an engine: its figures, and the sentences that say them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Self

from pathformer.kg.grow import Grown
from pathformer.text import counted, percent

__all__ = ["Change", "Untrained", "untrained_since"]

_WORSE = 0.01  # loss of MRR from which the user is warned


@dataclass(frozen=True, slots=True)
class Change:
    """The figures of an update."""

    triples: int  # new triples
    entities: int  # new entities
    relations: int  # new relations
    before: float | None  # MRR of the old engine on its held-out questions, without new answers
    after: float | None  # MRR of the new engine on these questions
    new: float | None  # MRR on held-out links of new entities; None where none could be held out
    counting: float | None  # MRR of the counting baseline on these links
    seconds: float
    steps: int  # training steps
    date: str
    removed: int = 0  # triples that were taken away
    trained: bool = True

    @classmethod
    def untrained(cls, grown: Grown, seconds: float, date: str) -> Self:
        """Makes the figures of an update without training."""
        return cls(
            triples=len(grown.triples),
            entities=grown.entities,
            relations=grown.relations,
            before=None,
            after=None,
            new=None,
            counting=None,
            seconds=seconds,
            steps=0,
            date=date,
            removed=len(grown.removed),
            trained=False,
        )

    @property
    def is_worse(self) -> bool:
        """Whether the old questions lost so much that the user is warned."""
        return self.before is not None and self.after is not None and self.before - self.after > _WORSE

    def advice(self) -> str:
        """Says what helps if the old questions lost; empty if they did not."""
        if not self.is_worse:
            return ""
        return (
            "Raise --minutes, for the first fit or for the update, to lose less. "
            "An update replaces the engine: to keep the old one, copy its folder and update the copy."
        )

    def sentence(self) -> str:
        """Returns the figures as sentences for people."""
        triples, entities = counted(self.triples, "new triple"), counted(self.entities, "new entity", "new entities")
        relations = f" and {counted(self.relations, 'new relation')}" if self.relations else ""
        added = [f"{'learned' if self.trained else 'added'} {triples} with {entities}{relations}"] * bool(self.triples)
        removed = [f"took away {counted(self.removed, 'triple')}"] * bool(self.removed)
        done = " and ".join([*added, *removed]) or "learned what was added without training"
        words = f"{done[0].upper()}{done[1:]} in {self.seconds:.0f} s."
        if not self.trained:
            return (
                f"{words} Known answers, proofs and the evidence for links follow the changed graph; embeddings follow "
                "with the next update without --no-train."
            )
        if self.before is not None and self.after is not None:
            words += f" Old held-out questions: MRR {percent(self.before)} before, {percent(self.after)} now"
            if self.is_worse:
                words += f", {percent(self.before - self.after)} points worse"
            words += "."
        if self.new is not None and self.counting is not None:
            words += f" Links of new entities: MRR {percent(self.new)}, counting baseline {percent(self.counting)}."
        if self.steps == 0:
            words += " No training step fitted into the time: new entities keep their first estimates. Raise --minutes."
        return words


@dataclass(frozen=True, slots=True)
class Untrained:
    """What updates without training changed since the last training."""

    added: int = 0  # triples
    removed: int = 0
    entities: int = 0
    relations: int = 0

    @property
    def changed(self) -> bool:
        """Whether a training would find something that no training has learned."""
        return bool(self.added or self.removed)

    def note(self) -> str:
        """Returns a sentence for the report; empty if nothing changed."""
        if not self.changed:
            return ""
        return (
            f"Since these figures were measured, {counted(self.added, 'triple was', 'triples were')} added and "
            f"{self.removed:,} taken away without training."
        )


def untrained_since(about: Mapping[str, Any]) -> Untrained:
    """Reads the header of an engine."""
    last = list(takewhile(lambda change: not change["trained"], reversed(about.get("updates", ()))))
    added, removed, entities, relations = (
        sum(change[name] for change in last) for name in ("triples", "removed", "entities", "relations")
    )
    return Untrained(added, removed, entities, relations)
