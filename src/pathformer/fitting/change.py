"""What an update changed in an engine: its figures, and the sentences that say them."""

from __future__ import annotations

from dataclasses import dataclass

from pathformer.text import counted, percent

__all__ = ["Change"]

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
        words = f"Learned {triples} with {entities}{relations} in {self.seconds:.0f} s."
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
