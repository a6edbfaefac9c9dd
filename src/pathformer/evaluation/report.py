"""The report of an evaluation: metrics of each structure and their averages, as a table, JSON or Markdown.

The averages are the paper's: over the nine structures without negation (Table 1) and over the five with negation
(Table 3). Other structures are shown but not averaged. Figures are in percent, as in the paper.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from rich.box import HORIZONTALS
from rich.markup import escape
from rich.table import Table

from pathformer.evaluation.metrics import HITS, Scores, average
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES
from pathformer.text import markdown_table, percent

__all__ = ["Report", "plain_scores", "ruled_table"]

_GROUPS = {"avg": EPFO, "avg negation": NEGATION_STRUCTURES}


@dataclass(frozen=True, kw_only=True)
class Report:
    """Scores by structure, and how they were made."""

    scores: Mapping[str, Scores]  # structure -> its scores, in the benchmark's order
    about: Mapping[str, Any] = field(default_factory=dict)  # ties, filter, dataset, split, checkpoint, ...
    paper: Mapping[str, float] = field(default_factory=dict)  # structure or "avg" -> the paper's MRR in percent

    @property
    def averages(self) -> dict[str, Scores]:
        """Returns the mean over each complete group of structures; if no group is complete, over all structures.

        A structure without ranked queries does not count.
        """
        ranked = {name: scores for name, scores in self.scores.items() if scores.queries}
        full = {
            name: average(ranked[structure] for structure in group)
            for name, group in _GROUPS.items()
            if set(group) <= ranked.keys()
        }
        return full or ({"avg of these": average(ranked.values())} if len(ranked) > 1 else {})

    @property
    def mrr(self) -> float:
        """Returns one figure to compare runs by: the mean MRR over all structures with ranked queries."""
        return average(self.scores.values()).mrr

    def mrr_percent(self) -> dict[str, float]:
        """Returns MRR by structure in percent, for records and cards."""
        return {name: round(100 * scores.mrr, 3) for name, scores in self.scores.items()}

    def table(self) -> Table:
        """Returns a table for the terminal."""
        caption = ", ".join(f"{key}: {value}" for key, value in self.about.items())
        header, *rows = self._cells()
        table = ruled_table(header, caption or None)
        for position, row in enumerate(rows):
            last = position == len(self.scores) - 1
            table.add_row(*row, style=None if position < len(self.scores) else "bold", end_section=last)
        return table

    def markdown(self) -> str:
        """Returns the report as Markdown."""
        header, *rows = self._cells()
        about = ", ".join(f"{key}: {value}" for key, value in self.about.items())
        return "\n".join([*markdown_table(header, rows), *(["", about] if about else [])]) + "\n"

    def json(self) -> str:
        """Returns the report as JSON, which `from_json` reads back."""
        return json.dumps(
            {
                "about": dict(self.about),
                "paper": dict(self.paper),
                "averages": {name: plain_scores(scores) for name, scores in self.averages.items()},
                "scores": {name: plain_scores(scores) for name, scores in self.scores.items()},
            },
            indent=2,
        )

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Reads the report that `json` wrote."""
        table = json.loads(text)
        scores = {
            name: Scores(
                _figure(entry["mrr"]),
                {k: _figure(entry[f"hits@{k}"]) for k in HITS},
                entry["queries"],
                entry["answers"],
            )
            for name, entry in table["scores"].items()
        }
        return cls(scores=scores, about=table["about"], paper=table["paper"])

    def _cells(self) -> Iterator[list[str]]:
        compared = bool(self.paper)
        yield [
            "structure", "queries", "answers", "MRR", *(["paper", "diff"] if compared else []),
            *(f"Hits@{k}" for k in HITS),
        ]  # fmt: skip
        for name, scores in {**self.scores, **self.averages}.items():
            mrr, *hits = ("-" if isnan(figure) else percent(figure) for figure in (scores.mrr, *scores.hits.values()))
            beside = _beside(scores.mrr, self.paper.get(name)) if compared else []
            yield [name, f"{scores.queries:,}", f"{scores.answers:,}", mrr, *beside, *hits]


def _beside(mrr: float, paper: float | None) -> list[str]:
    """Returns the paper's figure and the difference."""
    if paper is None:
        return ["", ""]
    return [f"{paper:.1f}", "" if isnan(mrr) else f"{100 * mrr - paper:+.1f}"]


def plain_scores(scores: Scores) -> dict[str, float | None]:
    """Returns scores as plain values; nan becomes None, because JSON has no nan."""
    figures = {"mrr": scores.mrr, **{f"hits@{k}": value for k, value in scores.hits.items()}}
    plain = {name: None if isnan(value) else value for name, value in figures.items()}
    return {**plain, "queries": scores.queries, "answers": scores.answers}


def _figure(stored: float | None) -> float:
    return nan if stored is None else stored


def ruled_table(header: Sequence[str], caption: str | None = None) -> Table:
    """Makes an empty table for the terminal: the first column is aligned left, the others right.

    Brackets in header and caption are not markup, because they may be part of names.
    """
    below = None if caption is None else escape(caption)
    table = Table(box=HORIZONTALS, pad_edge=False, padding=(0, 1, 0, 0), caption=below, caption_justify="left")
    for position, column in enumerate(header):
        table.add_column(escape(column), justify="right" if position else "left")
    return table
