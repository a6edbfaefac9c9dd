"""The report of a fit: what was learned, how well, how sure the answers are, in what time, and what was not learned.

MRR and Hits@10 are filtered, over answers that need a held-out triple, beside the counting baseline, in percent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.table import Table

from pathformer.engine.calibrate.reliability import Reliability
from pathformer.engine.history import FirstFit
from pathformer.evaluation.report import Report, ruled_table
from pathformer.fitting.assumed import AssumedShare
from pathformer.fitting.link_scores import LinkScores
from pathformer.fitting.restated import RestatedRelation
from pathformer.text import counted, duration, markdown_table, percent

__all__ = ["FitReport", "RelationScore"]

_RESTATEMENTS = 40  # lines of the table of relations that restate another


@dataclass(frozen=True, slots=True)
class RelationScore:
    """How well the held-out triples of one relation are found."""

    relation: str
    triples: int  # to learn from
    links: int  # held-out questions about it, both directions
    mrr: float


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """The outcome of a fit."""

    graph: str
    entities: int
    relations: int
    triples: Mapping[str, int]  # by part: train, valid, test
    model: Mapping[str, Any]  # the settings of the model
    parameters: int
    steps: int  # of the last update if there was one, as are `device` and `seconds`
    device: str
    scores: Report | None  # on held-out questions; None where nothing could be held out
    frequency: Report | None  # of the counting baseline on these questions
    by_relation: tuple[RelationScore, ...] = ()
    calibration: Reliability | None = None  # on questions with a missing answer
    everyday: Reliability | None = None  # on questions drawn whether or not an answer is missing
    reasons: AssumedShare | None = None  # how often the links that reasons assume are true
    restatements: tuple[RestatedRelation, ...] = ()  # relations that another restates
    seconds: Mapping[str, float] = field(default_factory=dict)  # by stage
    notes: tuple[str, ...] = ()  # what could not be learned or measured
    first: FirstFit | None = None  # the first fit of an updated engine
    links: LinkScores | None = None  # how well single links are found, by all evidence and by each source of it

    @property
    def worse(self) -> tuple[str, ...]:
        """The structures on which the model is no better than the counting baseline."""
        if self.scores is None or self.frequency is None:
            return ()
        other = self.frequency.scores
        return tuple(name for name, found in self.scores.scores.items() if found.mrr <= other[name].mrr)

    def table(self) -> Table:
        """Returns a table for the terminal, with a line for each structure."""
        table = ruled_table(["held-out questions", "queries", "MRR", "counting", "Hits@10"])
        for row in self._rows():
            table.add_row(*row, style="bold" if row[0] == "mean" else None)
        return table

    def markdown(self) -> str:
        """Returns the report as Markdown, for people."""
        parts = (self._head, self._figures, self._relations, self._restatements, self._probabilities, self._why)
        return "\n".join(line for part in (*parts, self._tail) for line in part())

    def json(self) -> str:
        """Returns the report as JSON, for programs."""
        return json.dumps(
            {
                **{key: value for key, value in asdict(self).items() if key not in ("scores", "frequency")},
                "scores": None if self.scores is None else json.loads(self.scores.json()),
                "frequency": None if self.frequency is None else json.loads(self.frequency.json()),
                "calibration": None if self.calibration is None else self.calibration.plain(),
                "everyday": None if self.everyday is None else self.everyday.plain(),
            },
            indent=2,
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> FitReport:
        """Reads what `json` returned."""
        table = json.loads(text)
        for name in ("scores", "frequency"):
            table[name] = table[name] and Report.from_json(json.dumps(table[name]))
        for name in ("calibration", "everyday"):
            table[name] = table[name] and Reliability.from_plain(table[name])
        table["reasons"] = table["reasons"] and AssumedShare(**table["reasons"])
        table["first"] = table["first"] and FirstFit(**table["first"])
        table["links"] = table["links"] and LinkScores.from_plain(table["links"])
        table["restatements"] = tuple(RestatedRelation(**row) for row in table["restatements"])
        table["by_relation"] = tuple(RelationScore(**row) for row in table["by_relation"])
        return cls(**{**table, "notes": tuple(table["notes"])})

    def _rows(self) -> list[list[str]]:
        if self.scores is None or self.frequency is None:
            return []
        rows = []
        for name, found in self.scores.scores.items():
            counting = self.frequency.scores[name].mrr
            rows.append([name, f"{found.queries:,}", percent(found.mrr), percent(counting), percent(found.hits[10])])
        queries = sum(found.queries for found in self.scores.scores.values())
        hits = sum(found.hits[10] for found in self.scores.scores.values()) / len(rows)
        rows.append(["mean", f"{queries:,}", percent(self.scores.mrr), percent(self.frequency.mrr), percent(hits)])
        return rows

    def _head(self) -> list[str]:
        parts = ", ".join(f"{part} {count:,}" for part, count in self.triples.items())
        triples = sum(self.triples.values())
        which = "" if self.first is None else " in the last update,"
        return [
            f"# {self.graph}",
            "",
            f"{self.entities:,} entities, {counted(self.relations, 'relation')}, {triples:,} triples ({parts}).",
            f"A model of {self.parameters:,} numbers,{which} {counted(self.steps, 'step')} on {self.device}.",
            *([] if self.first is None else [self.first.sentence()]),
            "",
            *([*(f"- {note}" for note in self.notes), ""] if self.notes else []),
        ]

    def _figures(self) -> list[str]:
        rows = self._rows()
        if not rows:
            return []
        header = ["structure", "queries", "MRR", "counting", "Hits@10"]
        return [
            "## What was learned",
            "",
            "Figures in percent, on questions whose missing answers need a held-out triple. *Counting* is a baseline",
            "that always answers with the most frequent ends of the last relation.",
            "",
            *markdown_table(header, rows),
            "",
            *([] if self.links is None else [self.links.sentence(), ""]),
        ]

    def _relations(self) -> list[str]:
        if not self.by_relation:
            return []
        rows = [[f"`{r.relation}`", f"{r.triples:,}", f"{r.links:,}", percent(r.mrr)] for r in self.by_relation]
        return [
            "## Relation by relation",
            "",
            *markdown_table(["relation", "triples", "held-out links", "MRR"], rows),
            "",
        ]

    def _restatements(self) -> list[str]:
        if not self.restatements:
            return []
        rows = [
            [f"`{r.restated_by}`", r.states, f"{int(100 * r.share)} %", f"{r.facts:,}", f"{r.held_out:,}"]
            for r in self.restatements[:_RESTATEMENTS]
        ]
        more = len(self.restatements) - len(rows)
        return [
            "## Relations that restate another",
            "",
            "A held-out triple was taken out together with those that state the same: the figures are about links that",
            "no other relation gives away.",
            "",
            *markdown_table(
                ["relation", "states", "share of its facts", "facts", "held out together"],
                rows,
                ["---", "---", "--:", "--:", "--:"],
            ),
            *(["", f"{more:,} more stand in `report.json`."] if more else []),
            "",
        ]

    def _probabilities(self) -> list[str]:
        if self.calibration is None:
            return []
        rows = [
            [
                words,
                f"{shown.predictions:,}",
                f"{shown.right:,}",
                f"{shown.ece:.3f}",
                f"{shown.brier:.4f}",
                f"{shown.base_brier:.4f}",
            ]
            for words, shown in (
                ("with a missing answer", self.calibration),
                ("with or without one", self.everyday),
            )
            if shown is not None
        ]
        return [
            "## How sure it is",
            "",
            "The ten best predictions of held-out questions; the probabilities were fitted on other questions.",
            "",
            "![Probability given against share that was right](calibration.svg)",
            "",
            *markdown_table(["questions", "predictions", "right", "ECE", "Brier", "Brier of the base rate"], rows),
            "",
        ]

    def _why(self) -> list[str]:
        if self.reasons is None or not self.reasons.assumed:
            return []
        shown = self.reasons
        return [
            "## Whether its reasons hold",
            "",
            f"The reasons of {shown.answers:,} held-out answers assume links that the graph lacks.",
            f"{percent(shown.share)} % of them are true, of links drawn at random {percent(shown.random_share)} %.",
            "",
        ]

    def _tail(self) -> list[str]:
        rows = [[name, duration(seconds)] for name, seconds in self.seconds.items()]
        return [
            "## Time" if self.first is None else "## Time of the last update",
            "",
            *markdown_table(["stage", "time"], rows),
            "",
        ]
