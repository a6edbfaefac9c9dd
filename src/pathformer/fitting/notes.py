"""The notes of a fit: sentences about what could not be learned from the graph, or could not be measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pathformer.fitting.measuring import ENOUGH, held_out_triples
from pathformer.fitting.report import FitReport
from pathformer.kg.holdout import count_restated, spell_out
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.restatements import describe
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.text import counted

__all__ = ["notes_on"]

_FEW = 1000  # triples below which little can be learned
_RARE = 5  # triples of a relation below which nothing can be learned about it
_DEFAULTS = "Probabilities are defaults by rank."
_SHOWN = 5  # names listed in a note


def notes_on(
    kg: KnowledgeGraph,
    questions: QuerySets[Queries],
    report: FitReport,
    *,
    fitted: bool,
    grown: bool,
    lacking: Sequence[str],
) -> tuple[str, ...]:
    """Returns a sentence for each thing to know before relying on an engine.

    fitted: whether probabilities were measured; grown: whether this was an update of an engine;
    lacking: structures that the graph of the first fit holds no question for.
    """
    return (
        *_on_time(report, grown),
        *_on_triples(kg),
        *_on_restatements(kg),
        *_on_structures(lacking, grown),
        *_on_measures(kg, questions, fitted),
        *_on_figures(report),
    )


def _on_time(report: FitReport, grown: bool) -> Iterator[str]:
    if not report.steps:
        result = "New entities keep their first estimates" if grown else "Predictions are random"
        yield f"No training step fitted into the time. {result}; raise --minutes."


def _on_triples(kg: KnowledgeGraph) -> Iterator[str]:
    train, names = kg.splits["train"], kg.vocabulary
    if len(train) < _FEW:
        yield (
            f"The graph has only {counted(len(train), 'triple')} to learn from. "
            "Treat predictions as hints; known answers are exact."
        )
    rare = np.flatnonzero(np.bincount(train[:, 1] >> 1, minlength=len(names.relations)) < _RARE)
    if len(rare):
        shown = ", ".join(names.relation(2 * int(r)) for r in rare[:_SHOWN]) + (", ..." if len(rare) > _SHOWN else "")
        relations = counted(len(rare), "relation has", "relations have")
        yield f"{relations} fewer than {_RARE} triples ({shown}). Do not rely on predictions about them."
    alone = int(np.count_nonzero(np.diff(kg.graph("train").head_ptr) == 0))
    if alone:
        entities = counted(alone, "entity is", "entities are")
        yield f"{entities} in no triple to learn from. Predictions about them are arbitrary."


def _on_restatements(kg: KnowledgeGraph) -> Iterator[str]:
    if not (found := kg.restatements()):
        return
    together, earlier = count_restated(kg)
    held_out = counted(together, "held-out triple was", "held-out triples were")
    yield (
        f"{describe(found, kg.vocabulary)}. {held_out} taken out together with those that state the same, "
        "so that nothing gives them away."
    )
    if earlier:
        yield (
            f"{counted(earlier, 'triple')} of valid and test {'is' if earlier == 1 else 'are'} stated by an earlier "
            "part too. They count as known and no figure is about them, because finding them is no prediction."
        )


def _on_structures(lacking: Sequence[str], grown: bool) -> Iterator[str]:
    if lacking:
        structures = "structure" if len(lacking) == 1 else "structures"
        graph = "The graph of the first fit" if grown else "The graph"
        yield f"{graph} has no questions of the {structures} {', '.join(lacking)}: it was not trained for them."


def _on_measures(kg: KnowledgeGraph, questions: QuerySets[Queries], fitted: bool) -> Iterator[str]:
    asked = spell_out(kg)
    if held_out_triples(kg) and not held_out_triples(asked):
        yield f"Every triple of valid or of test is stated by an earlier part too: nothing was measured. {_DEFAULTS}"
    elif not questions["test"] or not questions["valid"]:
        yield f"No triple could be held out without losing an entity or relation: nothing was measured. {_DEFAULTS}"
    elif (held_out := held_out_triples(asked)) < ENOUGH:
        yield (
            f"Only {counted(held_out, 'triple')} could be held out, too few to measure by: "
            f"the figures are little more than luck. {_DEFAULTS}"
        )
    elif not fitted:
        yield f"The predictions of held-out questions were all right or all wrong. {_DEFAULTS}"


def _on_figures(report: FitReport) -> Iterator[str]:
    if report.worse:
        yield f"On {', '.join(report.worse)} the model is no better than the counting baseline: raise --minutes."
