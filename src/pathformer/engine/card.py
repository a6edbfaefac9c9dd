"""A model card: what a trained model is, of what and how it was made, how good it is, and what it cannot do.

Everything in it comes from files that training and fitting wrote (`card_facts`, `experiments.cards`); what none of them
says is told as not known, never filled in by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pathformer.engine.cost import Cost
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES, STRUCTURES
from pathformer.toml import NONE
from pathformer.training.display import duration
from pathformer.words import markdown_table

__all__ = ["Card", "Kept", "with_averages"]

_GROUPS = {"avg": EPFO, "avg negation": NEGATION_STRUCTURES}
_NEGATED = frozenset(NEGATION_STRUCTURES)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """In which form a release keeps its weights, and what that costs."""

    form: str
    bytes_before: int  # of weights
    bytes_after: int
    searched: str = "bf16"  # the numbers that nearest entities are found by
    cost: Cost | None = None  # none where nothing was measured


@dataclass(frozen=True, kw_only=True)
class Card:
    """The facts of a card; an empty one or None is not known."""

    name: str
    graph: str
    entities: int | None = None
    relations: int | None = None  # one direction counted
    triples: Mapping[str, int] = field(default_factory=dict)  # by part
    licence: str = ""
    method: str = ""
    tables: int | None = None  # numbers in the tables
    network: int | None = None  # and in everything else
    settings: Mapping[str, Any] = field(default_factory=dict)  # dotted name -> value
    trained: Sequence[str] = ()  # structures
    trained_on: str = ""  # which queries
    judged_on: str = ""  # which queries
    weights: str = ""  # which of the run's, "best, step 9"
    figures: Mapping[str, float] = field(default_factory=dict)  # structure -> MRR in percent
    beside: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # "paper", "counting" -> likewise
    seed: int | None = None
    steps: int | None = None
    seconds: float | None = None
    before: float | None = None  # seconds of a run that its tables start from
    together: int = 1  # runs at most that shared the device
    memory_gb: float | None = None
    machine: str = ""
    commit: str = ""
    version: str = ""
    date: str = ""
    updated: str = ""  # how often since, and what the last update had; the lines above are the first fit's then
    remark: str = ""  # on its training
    probabilities: str = ""  # a sentence
    notes: Sequence[str] = ()  # what else it cannot do
    negation: bool = True  # whether the method can take one
    kept: Kept | None = None
    commands: Sequence[str] = ()  # to make it, to ask it

    def markdown(self, level: int = 1) -> str:
        """The card as a page, or at a deeper level as a section of one."""
        head = "#" * level
        parts = [
            (head, self.name, self._summary()),
            (f"{head}#", "Data", self._data()),
            (f"{head}#", "Training", self._training()),
            (f"{head}#", "Figures", self._figures()),
            *([(f"{head}#", "Released form", self._form(self.kept))] if self.kept else []),
            (f"{head}#", "What it cannot do", self._limits()),
            (f"{head}#", "How to use it", ["```", *self.commands, "```"]),
            *([(f"{head}#", "Settings", self._settings())] if self.settings else []),
        ]
        return "\n".join(f"{mark} {title}\n\n" + "\n".join(lines) + "\n" for mark, title, lines in parts)

    def _summary(self) -> list[str]:
        found = "some with a negation" if self._sees_negation else "none with a negation"
        trained = f" {len(self.trained)} kinds of question were trained, {found}." if self.trained else ""
        return [
            f"A {self.method or 'model'} that answers questions about the graph `{self.graph}`:"
            f" what it states and what it lacks.{trained}",
            "Made from the records of its training; what they do not say is not known.",
        ]

    def _data(self) -> list[str]:
        parts = ", ".join(f"{part} {count:,}" for part, count in self.triples.items())
        return [
            f"- graph: {self.graph}, {_count(self.entities)} entities, {_count(self.relations)} relations"
            f"{f'; triples: {parts}' if parts else ''}",
            f"- licence of the data: {self.licence or 'not known to the program: that of the triples that were read'}",
            f"- trained on: {self.trained_on or 'not known'}",
            f"- structures trained: {', '.join(self.trained) or 'not known'}",
            f"- judged on: {self.judged_on or 'nothing'}",
        ]

    def _training(self) -> list[str]:
        shared = f", on a device shared by up to {self.together} runs" if self.together > 1 else ""
        first = f", after {duration(self.before)} of the run that its tables start from" if self.before else ""
        rows = {
            "method": ", ".join([self.method or "not known", *self._sizes()]),
            "weights": self.weights,
            "seed": self.seed,
            "steps": "" if self.steps is None else f"{self.steps:,}",
            "time": "" if self.seconds is None else f"{duration(self.seconds)}{shared}{first}",
            "most memory": "" if self.memory_gb is None else f"{self.memory_gb:.1f} GB on the card",
            "machine": self.machine,
            "commit": self.commit,
        }
        more = {"version": self.version, "date": self.date, "updated": self.updated, "remark": self.remark}
        known = {name: value for name, value in more.items() if value}
        told = {name: "not known" if value in ("", None) else value for name, value in rows.items()}
        return [f"- {name}: {value}" for name, value in {**told, **known}.items()]

    def _sizes(self) -> Iterator[str]:
        if self.network is not None:
            yield f"{self.network:,} numbers in the network"
        if self.tables is not None:
            yield f"{self.tables:,} in the tables"

    def _figures(self) -> list[str]:
        if not self.figures:
            return ["The test queries were not ranked." if self._priced else "Nothing was measured."]
        figures, beside = (
            with_averages(self.figures),
            {name: {**with_averages(part), **part} for name, part in self.beside.items() if part},
        )
        header = ["structure", "trained", "MRR", *(word for name in beside for word in (name, "difference"))]
        rows = [
            [
                name,
                "" if name not in STRUCTURES else ("yes" if name in self.trained else "no"),
                f"{value:.1f}",
                *(word for part in beside.values() for word in _beside(value, part.get(name))),
            ]
            for name, value in figures.items()
        ]
        averaged = "; avg is the mean without negation" if "avg" in figures else ""
        return [
            f"MRR in percent, filtered, over answers that need a triple it was not shown{averaged}.",
            "",
            *markdown_table(header, rows),
        ]

    def _form(self, kept: Kept) -> list[str]:
        share = kept.bytes_after / kept.bytes_before
        lines = [
            f"Weights in {kept.form}: {_megabytes(kept.bytes_after)} in place of {_megabytes(kept.bytes_before)}"
            f" ({100 * share:.0f} %). Opening widens them to float32; nearest entities are searched in"
            f" {kept.searched}.",
        ]
        if kept.cost is None:
            return [*lines, "What that costs in MRR was not measured."]
        header, *rows = kept.cost.rows()
        return [*lines, kept.cost.sentence(), "", *markdown_table(header, rows)]

    def _limits(self) -> list[str]:
        return [f"- {line}" for line in self._limit_lines()]

    def _limit_lines(self) -> Iterator[str]:
        yield "What is not in the graph, entity or relation, is unknown to it."
        if self.kept:
            yield (
                "It learns nothing more: its weights were rounded, and `pathformer fit --update` takes an engine as it"
                " was trained."
            )
        yield "Variables in a cycle, numbers, dates and counts are outside its language."
        if not self.negation:
            yield "It cannot take a negation: such questions are refused."
        elif self.trained and not self._sees_negation:
            yield "It never saw a negation while it was trained: do not trust its predictions for questions with *not*."
        unseen = [name for name in self.figures if name not in self.trained and name not in _GROUPS]
        if self.trained and unseen:
            yield f"It never saw these kinds of question while it was trained: {', '.join(unseen)}."
        for name, part in self.beside.items():
            below = [kind for kind, value in self.figures.items() if value < part.get(kind, value)]
            if below:
                yield f"Below {'the paper' if name == 'paper' else name} on {', '.join(below)}."
        if not self.figures and not self._priced:
            unranked = "no test queries were ranked"
            why = unranked if self.triples.get("test") else "nothing was held out to measure them by"
            yield f"How good its predictions are is not known: {why}."
        yield self.probabilities or "Whether its probabilities hold was not measured."
        yield "A prediction is a guess from what the graph repeats, its gaps and its slants included."
        yield from self.notes

    def _settings(self) -> list[str]:
        return ["```toml", *(f"{name} = {_toml(value)}" for name, value in self.settings.items()), "```"]

    @property
    def _priced(self) -> bool:
        """Whether the released form says how it does on held-out questions."""
        return self.kept is not None and self.kept.cost is not None

    @property
    def _sees_negation(self) -> bool:
        return bool(_NEGATED & set(self.trained))


def with_averages(figures: Mapping[str, float]) -> dict[str, float]:
    """Figures and the means of the groups that are there in full."""
    means = {
        name: sum(figures[structure] for structure in group) / len(group)
        for name, group in _GROUPS.items()
        if set(group) <= figures.keys()
    }
    return {name: value for name, value in figures.items() if name not in _GROUPS} | means


def _beside(value: float, other: float | None) -> list[str]:
    return ["", ""] if other is None else [f"{other:.1f}", f"{value - other:+.1f}"]


def _toml(value: Any) -> str:
    return json.dumps(NONE if value is None else value)


def _count(number: int | None) -> str:
    return "an unknown number of" if number is None else f"{number:,}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
