"""What a fit tells in words: what cannot be learned from a graph, and what could not be measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pathformer.fitting.measure import ENOUGH, held_out_triples
from pathformer.fitting.report import FitReport
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.text import counted

__all__ = ["notes_on"]

_FEW = 1000  # triples below which little can be learned
_RARE = 5  # triples of a relation below which nothing can
_SHOWN = 5  # names in a note


def notes_on(
    kg: KnowledgeGraph,
    questions: QuerySets[Queries],
    report: FitReport,
    *,
    fitted: bool,
    grown: bool,
    lacking: Sequence[str],
) -> tuple[str, ...]:
    """A sentence for each thing to know before one relies on an engine.

    fitted: whether probabilities were; grown: whether the model knew most of the graph before this training;
    lacking: structures that the graph of the first fit held no question of.
    """
    return (
        *_on_time(report, grown),
        *_on_triples(kg),
        *_on_shapes(lacking, grown),
        *_on_measures(kg, questions, fitted),
        *_on_figures(report),
    )


def _on_time(report: FitReport, grown: bool) -> Iterator[str]:
    if not report.steps:
        rest = "new entities stand where they were put" if grown else "the model knows nothing"
        yield f"The time was too short for a single step: {rest}."


def _on_triples(kg: KnowledgeGraph) -> Iterator[str]:
    train, names = kg.splits["train"], kg.vocabulary
    if len(train) < _FEW:
        yield (
            f"{counted(len(train), 'triple is', 'triples are')} few to learn from: "
            "take predictions as hints; known answers are exact as ever."
        )
    rare = np.flatnonzero(np.bincount(train[:, 1] >> 1, minlength=len(names.relations)) < _RARE)
    if len(rare):
        shown = ", ".join(names.relation(2 * int(r)) for r in rare[:_SHOWN]) + (", ..." if len(rare) > _SHOWN else "")
        yield f"Relations with fewer than {_RARE} triples are hardly learned: {len(rare)} of them ({shown})."
    alone = int(np.count_nonzero(np.diff(kg.graph("train").head_ptr) == 0))
    if alone:
        standing = counted(alone, "entity stands", "entities stand")
        yield f"{standing} in no triple to learn from: what is predicted there is arbitrary."


def _on_shapes(lacking: Sequence[str], grown: bool) -> Iterator[str]:
    if lacking:
        shapes = "shape" if len(lacking) == 1 else "shapes"
        graph = "The graph of the first fit held" if grown else "The graph holds"
        yield f"{graph} no questions of the {shapes} {', '.join(lacking)} to learn from."


def _on_measures(kg: KnowledgeGraph, questions: QuerySets[Queries], fitted: bool) -> Iterator[str]:
    if not questions["test"] or not questions["valid"]:
        yield "Nothing could be held out without losing a name: no figures, and probabilities are a mere habit."
    elif (held_out := held_out_triples(kg)) < ENOUGH:
        yield (
            f"Only {counted(held_out, 'triple')} could be held out: too few to measure probabilities "
            "by, so that they are a mere habit; figures that rest on so few are hardly more than luck."
        )
    elif not fitted:
        yield "Too few held-out questions were answered right or wrong: probabilities are a mere habit."


def _on_figures(report: FitReport) -> Iterator[str]:
    if report.worse:
        yield f"On {', '.join(report.worse)} the model is no better than counting: more --minutes may help."
