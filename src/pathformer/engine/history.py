"""How an engine was made, read from its header: the first fit, the updates, and the structures it was trained on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.text import counted, duration

__all__ = ["FirstFit", "first_facts", "last_update", "learned_structures", "trained_structures"]

_FIRST = ("seconds", "minutes", "seed", "steps", "device", "version", "commit", "date")


@dataclass(frozen=True, slots=True)
class FirstFit:
    """The first fit of an updated engine, and how often it was updated since."""

    updates: int
    steps: int | None  # of the first fit; None where it is not known
    seconds: float | None  # likewise

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> FirstFit:
        """Reads the header of an updated engine."""
        return cls(len(about["updates"]), about.get("steps"), about.get("seconds"))

    def sentence(self) -> str:
        """Returns a sentence for people."""
        steps = "number of steps unknown" if self.steps is None else counted(self.steps, "step")
        time = "time unknown" if self.seconds is None else duration(self.seconds)
        return f"First fit: {steps}, {time}; updated {_times(self.updates)} since."


def first_facts(about: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the facts of the first fit; None stands for an unknown one."""
    facts = {**about.get("card", {}), **about}  # an engine made of a run has commit and date in its card only
    return {name: facts.get(name) for name in _FIRST}


def last_update(about: Mapping[str, Any]) -> str:
    """Says how often an engine was updated, and what the last update learned; empty if it was never updated."""
    updates = about.get("updates", ())
    if not updates:
        return ""
    last = updates[-1]
    removed = f"{counted(last['removed'], 'triple')} taken away" if last["removed"] else ""
    steps = counted(last["steps"], "step") if last["trained"] else "not trained"
    facts = filter(None, (counted(last["triples"], "new triple"), removed, steps, duration(last["seconds"])))
    return f"{_times(len(updates))}, the last on {last['date']}: {', '.join(facts)}"


def trained_structures(about: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the structures that a model was trained on; empty if they are not known."""
    if "structures" in about:
        return tuple(about["structures"])
    return tuple(about.get("card", {}).get("trained", ()))  # an engine made of a run


def learned_structures(now: Collection[str], old: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """Returns the structures trained so far, and the structures that the first fit's graph had no question for.

    now: the structures of this training; old: the header of the engine that is updated, None for a first fit.
    """
    if old is None:
        trained: Collection[str] = now
        lacking: Collection[str] = EFOL_TRAINED
    else:
        before = trained_structures(old)
        trained, lacking = ({*before, *now} if before else ()), old.get("lacking", ())
    return {
        "structures": [name for name in STRUCTURES if name in trained],
        "lacking": [name for name in STRUCTURES if name in lacking and name not in now],
    }


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
