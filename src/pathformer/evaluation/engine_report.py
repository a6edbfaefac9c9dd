"""The report of an engine's score: ranks beside baselines, and how far its probabilities hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group as Renderables
from rich.markup import escape

from pathformer.evaluation.metrics import HITS, Scores
from pathformer.evaluation.probabilities import Group, Held
from pathformer.evaluation.report import plain_scores, ruled_table
from pathformer.text import markdown_table, percent

__all__ = ["ENGINE", "EngineReport"]

ENGINE = "this engine"
_RANKS = ("MRR", *(f"Hits@{k}" for k in HITS))
_HELD = ("count", "said", "right", "ECE", "by chance", "Brier")
_BEST = ("ten best", *_HELD, "base rate's")
_FIRST = ("first", *_HELD, "table's", "surest said", "right")


@dataclass(frozen=True, kw_only=True)
class EngineReport:
    """The outcome of an evaluation; all shares are between 0 and 1."""

    about: Mapping[str, Any]  # the engine, its graph, what was asked
    ranks: Mapping[str, Mapping[str, Scores]]  # what is ranked (links, a structure) -> who ranks it -> figures
    probabilities: Mapping[str, Held] = field(default_factory=dict)  # all, a structure, a relation -> figures
    notes: tuple[str, ...] = ()  # what was left out and why

    def table(self) -> Renderables:
        """Returns tables for the terminal."""
        tables = []
        for header, rows in self._tables():
            table = ruled_table(header)
            for row in rows:
                table.add_row(*map(escape, row))
            tables.append(table)
        return Renderables(*tables, *map(escape, self._sentences()))

    def markdown(self) -> str:
        """Returns the report as Markdown."""
        lines = [f"- {name}: {value}" for name, value in self.about.items()]
        for header, rows in self._tables():
            lines += ["", *markdown_table(header, rows)]
        return "\n".join([*lines, "", *(f"- {sentence}" for sentence in self._sentences())]) + "\n"

    def json(self) -> str:
        """Returns the report as JSON."""
        ranks = {
            asked: {who: plain_scores(scores) for who, scores in found.items()} for asked, found in self.ranks.items()
        }
        held = {name: figures.plain() for name, figures in self.probabilities.items()}
        return json.dumps(
            {"format": 1, "about": dict(self.about), "ranks": ranks, "probabilities": held, "notes": list(self.notes)},
            indent=2,
            ensure_ascii=False,
        )

    def _tables(self) -> Iterator[tuple[list[str], list[list[str]]]]:
        """Yields the header and the rows of each table."""
        first = (
            ("missing links", "questions", "links") if "links" in self.ranks else ("structure", "questions", "answers")
        )
        yield [*first, *_RANKS], [_rank_row(*row) for row in self._ranked()]
        if self.probabilities:
            yield (
                list(_BEST),
                [
                    _held_row(name, held.best, held.best.reliability.base_brier)
                    for name, held in self.probabilities.items()
                ],
            )
            yield list(_FIRST), [_first_row(name, held.first) for name, held in self.probabilities.items()]

    def _ranked(self) -> Iterator[tuple[str, Scores]]:
        for asked, found in self.ranks.items():
            for who, scores in found.items():
                yield (who if asked == "links" else asked if who == ENGINE else f"{asked}, {who}"), scores

    def _sentences(self) -> Iterator[str]:
        yield "Figures are in percent, but for ECE and Brier score; *said* is the mean probability of predictions."
        yield from self.notes


def _rank_row(name: str, scores: Scores) -> list[str]:
    shares = [percent(share) for share in (scores.mrr, *(scores.hits[k] for k in HITS))]
    return [name, f"{scores.queries:,}", f"{scores.answers:,}", *shares]


def _held_row(name: str, group: Group, beside: float | None) -> list[str]:
    shown = group.reliability
    shares = percent(group.said), percent(group.right)
    errors = f"{shown.ece:.3f}", f"{group.chance:.3f}", f"{shown.brier:.4f}", "-" if beside is None else f"{beside:.4f}"
    return [name, f"{shown.predictions:,}", *shares, *errors]


def _first_row(name: str, first: Group) -> list[str]:
    row = _held_row(name, first, first.table_brier)
    return [*row, percent(first.surest.predicted), percent(first.surest.observed)]
