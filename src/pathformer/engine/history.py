"""What an engine's header tells of its making, fit and updates apart: `about` of `storage.Parts`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.text import counted
from pathformer.training.display import duration

__all__ = ["FirstFit", "first_facts", "last_update", "learned", "trained_of"]

_FIRST = ("seconds", "minutes", "seed", "steps", "device", "version", "commit", "date")


@dataclass(frozen=True, slots=True)
class FirstFit:
    """Of an updated engine: what its first fit had, and how often it was updated since."""

    updates: int
    steps: int | None  # of the first fit; None is not known
    seconds: float | None  # likewise

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> FirstFit:
        """From the header of an updated engine."""
        return cls(len(about["updates"]), about.get("steps"), about.get("seconds"))

    def sentence(self) -> str:
        """For people."""
        steps = "steps not known" if self.steps is None else counted(self.steps, "step")
        time = "time not known" if self.seconds is None else duration(self.seconds)
        return f"First fit: {steps}, {time}; updated {_times(self.updates)} since."


def first_facts(about: Mapping[str, Any]) -> dict[str, Any]:
    """What a header says of the first fit; None is not known."""
    told = {**about.get("card", {}), **about}  # a run has its commit and date in its card alone
    return {name: told.get(name) for name in _FIRST}


def last_update(about: Mapping[str, Any]) -> str:
    """How often an engine was updated, and what the last update had; nothing where there was none."""
    updates = about.get("updates", ())
    if not updates:
        return ""
    last = updates[-1]
    facts = (counted(last["triples"], "new triple"), counted(last["steps"], "step"), duration(last["seconds"]))
    return f"{_times(len(updates))}, the last on {last['date']}: {', '.join(facts)}"


def trained_of(about: Mapping[str, Any]) -> tuple[str, ...]:
    """The structures that a model was trained on; none where that is not known."""
    if "structures" in about:
        return tuple(about["structures"])
    return tuple(about.get("card", {}).get("trained", ()))  # of a run


def learned(asked: Collection[str], old: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """What a header says of structures: those trained so far, and those that the first fit's graph had no question of.

    asked: those of this training; old: the header of the engine that it updates, none of a first fit.
    """
    if old is None:
        trained: Collection[str] = asked
        lacking: Collection[str] = EFOL_TRAINED
    else:
        before = trained_of(old)
        trained, lacking = ({*before, *asked} if before else ()), old.get("lacking", ())
    return {
        "structures": [name for name in STRUCTURES if name in trained],
        "lacking": [name for name in STRUCTURES if name in lacking and name not in asked],
    }


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
