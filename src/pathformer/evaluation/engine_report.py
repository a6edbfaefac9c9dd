"""The report of an engine's score: ranks beside baselines, and how far its probabilities hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group
from rich.markup import escape

from pathformer.evaluation.metrics import HITS, Scores
from pathformer.evaluation.probabilities import Held
from pathformer.evaluation.report import plain_scores, ruled_table
from pathformer.text import markdown_table, percent

__all__ = ["ENGINE", "EngineReport"]

ENGINE = "this engine"
_RANKS = ("MRR", *(f"Hits@{k}" for k in HITS))
_BEST = ("ten best predictions", "predictions", "right", "ECE", "Brier", "of the base rate")
_FIRST = ("first predictions", "questions", "said", "right", "ECE", "Brier", "surest tenth said", "right")


@dataclass(frozen=True, kw_only=True)
class EngineReport:
    """The outcome of an evaluation; all shares are between 0 and 1."""

    about: Mapping[str, Any]  # the engine, its graph, what was asked
    ranks: Mapping[str, Mapping[str, Scores]]  # what is ranked (links, a structure) -> who ranks it -> figures
    probabilities: Mapping[str, Held] = field(default_factory=dict)  # all, a structure, a relation -> figures
    notes: tuple[str, ...] = ()  # what was left out and why

    def table(self) -> Group:
        """Returns tables for the terminal."""
        tables = []
        for header, rows in self._tables():
            table = ruled_table(header)
            for row in rows:
                table.add_row(*map(escape, row))
            tables.append(table)
        return Group(*tables, *map(escape, self._sentences()))

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
            yield list(_BEST), [_best_row(name, held) for name, held in self.probabilities.items()]
            yield list(_FIRST), [_first_row(name, held) for name, held in self.probabilities.items()]

    def _ranked(self) -> Iterator[tuple[str, Scores]]:
        for asked, found in self.ranks.items():
            for who, scores in found.items():
                yield (who if asked == "links" else asked if who == ENGINE else f"{asked}, {who}"), scores

    def _sentences(self) -> Iterator[str]:
        yield "MRR, Hits, right and said are in percent."
        yield from self.notes


def _rank_row(name: str, scores: Scores) -> list[str]:
    shares = [percent(share) for share in (scores.mrr, *(scores.hits[k] for k in HITS))]
    return [name, f"{scores.queries:,}", f"{scores.answers:,}", *shares]


def _best_row(name: str, held: Held) -> list[str]:
    best = held.best
    figures = (f"{best.ece:.3f}", f"{best.brier:.4f}", f"{best.base_brier:.4f}")
    return [name, f"{best.predictions:,}", percent(best.right / best.predictions), *figures]


def _first_row(name: str, held: Held) -> list[str]:
    first, surest = held.first.reliability, held.first.reliability.bins[-1]
    return [
        name,
        f"{first.predictions:,}",
        percent(held.first.said),
        percent(held.first.right),
        f"{first.ece:.3f}",
        f"{first.brier:.4f}",
        percent(surest.predicted),
        percent(surest.observed),
    ]
