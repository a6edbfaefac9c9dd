"""What an update of an engine did, in figures and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from pathformer.text import counted, percent

__all__ = ["Change"]

_WORSE = 0.01  # of an MRR, that is told


@dataclass(frozen=True, slots=True)
class Change:
    """What an update did, in figures."""

    triples: int  # new ones
    entities: int  # new ones
    relations: int  # new ones
    before: float | None  # MRR of the old held-out questions, new answers left out; old weights
    after: float | None  # the same, new weights
    new: float | None  # MRR of held-out links of new entities, none where none could be held out
    counting: float | None  # what counting gives for them
    seconds: float
    steps: int  # of training
    date: str

    @property
    def is_worse(self) -> bool:
        """Whether old questions have lost so much that it must be told."""
        return self.before is not None and self.after is not None and self.before - self.after > _WORSE

    def advice(self) -> str:
        """What helps where old questions have lost; nothing where they have not."""
        if not self.is_worse:
            return ""
        return (
            "more --minutes, for the first fit and for the update, may lose less; an update takes the engine's place: "
            "to keep an engine as it is, copy its folder first and update the copy"
        )

    def sentence(self) -> str:
        """For people."""
        triples, entities = counted(self.triples, "new triple"), counted(self.entities, "new entity", "new entities")
        relations = f" and {counted(self.relations, 'new relation')}" if self.relations else ""
        words = f"learned {triples} with {entities}{relations} in {self.seconds:.0f} s"
        if self.before is not None and self.after is not None:
            words += f"; old held-out questions: MRR {percent(self.before)} before, {percent(self.after)} now"
            if self.is_worse:
                words += f", {percent(self.before - self.after)} points worse than before the update"
        if self.new is not None and self.counting is not None:
            words += f"; links of new entities: {percent(self.new)}, by counting {percent(self.counting)}"
        if self.steps == 0:
            words += "; no step was made: new entities stand where they were put"
        return words
