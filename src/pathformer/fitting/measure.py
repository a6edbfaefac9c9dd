"""A trained model on questions it has not seen: figures beside the baseline's, probabilities, and whether they hold."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.reliability import Reliability
from pathformer.engine.engine import Engine
from pathformer.evaluation.evaluate import ModelRanker, ScoreRanker, evaluate, reference_filter
from pathformer.evaluation.metrics import reciprocal_ranks
from pathformer.evaluation.report import Report
from pathformer.fitting.assumed import AssumedShare, assumed_share
from pathformer.fitting.held_out_predictions import (
    find_predictions,
    fit_calibration,
    graph_without,
    measure_reliability,
)
from pathformer.fitting.report import RelationScore
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.evidence.counts import Frequency
from pathformer.models._base import Model
from pathformer.models._encoder import model_of
from pathformer.query.tree import Tree
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets

__all__ = ["ENOUGH", "MEASURES", "Measured", "held_out_triples", "measure"]

MEASURES = 5  # parts that `measure` tells of
ENOUGH = 20  # held-out triples below which probabilities would rest on luck

_EXPLAINED = ("2p", "3p", "ip", "pi", "up", "inp", "pin", "pni")  # structures with a variable to bind
_REASONS = 12  # answers of each that are explained
_FOR_A_REASON = 10  # questions for one that is explained: it takes as long as searching several
_SEARCHING = 0.6  # of the time for everything here
_TRIED, _FEWEST = 2, 20  # questions of a structure: to see how long they take, and that probabilities need
_RELATIONS = 40  # that the figures name


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured:
    """What could be measured: no figures where nothing was held out, mere habit for probabilities where too little."""

    scores: Report | None = None  # of answers that need a held-out triple
    frequency: Report | None = None  # what counting gives on the same
    by_relation: tuple[RelationScore, ...] = ()
    calibration: Calibration = field(default_factory=Calibration.none)
    judged: Reliability | None = None  # the probabilities, on questions of which an answer is missing
    everyday: Reliability | None = None  # on questions as they come
    reasons: AssumedShare | None = None  # whether what reasons assume is true


def measure(
    engine: Engine, questions: QuerySets[Queries], advance: Callable[[str], None], seconds: float | None = None
) -> Measured:
    """Figures and probabilities of an engine that has none yet.

    advance: called with a word for each of the `MEASURES` that is done; seconds: about how long, and all of this then
    rests on as many questions as can be searched in that time.
    """
    if not questions["test"] or not questions["valid"]:
        return Measured()
    asked = questions if seconds is None else _in_time(engine, questions, seconds)
    figures = _figures(engine, asked)
    advance("figures")
    return figures if held_out_triples(engine.kg) < ENOUGH else _with_probabilities(figures, engine, asked, advance)


def held_out_triples(kg: KnowledgeGraph) -> int:
    """Triples of the smaller held-out part."""
    return min(len(kg.splits.get(part, ())) for part in ("valid", "test"))


def _in_time(engine: Engine, questions: QuerySets[Queries], seconds: float) -> QuerySets[Queries]:
    """As many of the held-out questions as can be searched in their share of so many seconds."""
    graph, tried = engine.kg.graph("valid"), questions.thin_held_out(_TRIED)["test"]
    warm_up = questions.thin_held_out(1)["test"]  # so that what is made only once is not timed
    find_predictions(warm_up, graph, engine.encoder, engine.index)
    start = time.monotonic()
    find_predictions(tried, graph, engine.encoder, engine.index)
    each = (time.monotonic() - start) / sum(map(len, tried.values()))
    sets = [queries for split, queries in questions.splits.items() if split != "train"]
    whole = sum(len(asked) for queries in sets for asked in queries.values())
    most = max(len(asked) for queries in sets for asked in queries.values())
    affordable = _SEARCHING * seconds / (each * whole)
    return questions if affordable >= 1.0 else questions.thin_held_out(max(_FEWEST, int(affordable * most)))


def _figures(engine: Engine, asked: QuerySets[Queries]) -> Measured:
    kg, model = engine.kg, model_of(engine.encoder)
    return Measured(
        scores=evaluate(ModelRanker(model), asked["test"]),
        frequency=evaluate(ScoreRanker(Frequency(kg.graph("train"))), asked["test"]),
        by_relation=_by_relation(kg, model, asked),
    )


def _by_relation(kg: KnowledgeGraph, model: Model, questions: QuerySets[Queries]) -> tuple[RelationScore, ...]:
    """MRR of held-out links by relation, the most frequent first."""
    asked = questions["test"].get("1p")
    if asked is None:
        return ()
    ranks = ModelRanker(model).rank(asked, asked.hard, reference_filter(asked))
    counts = np.diff(ranks.ptr)
    of_query = np.add.reduceat(reciprocal_ranks(ranks), ranks.ptr[:-1]) / counts  # every query has a missing answer
    relation = asked.ids[:, 1] >> 1
    learnt = np.bincount(kg.splits["train"][:, 1] >> 1, minlength=len(kg.vocabulary.relations))
    found = [
        RelationScore(
            kg.vocabulary.relation(2 * int(r)),
            int(learnt[r]),
            int((relation == r).sum()),
            float(of_query[relation == r].mean()),
        )
        for r in np.unique(relation)
    ]
    return tuple(sorted(found, key=lambda score: (-score.triples, score.relation))[:_RELATIONS])


def _with_probabilities(
    figures: Measured, engine: Engine, asked: QuerySets[Queries], advance: Callable[[str], None]
) -> Measured:
    """Probabilities fitted on `valid`, judged on `test`."""
    kg, index, encoder = engine.kg, engine.index, engine.encoder
    learnt, known = graph_without(kg, "valid"), kg.graph("valid")
    calibration = fit_calibration(
        find_predictions(asked["valid"], learnt, encoder, index),
        find_predictions(asked["everyday valid"], learnt, encoder, index),
    )
    advance("probabilities")
    judged = measure_reliability(calibration, find_predictions(asked["test"], known, encoder, index))
    advance("whether they hold")
    everyday = measure_reliability(calibration, find_predictions(asked["everyday test"], known, encoder, index))
    advance("and for everyday questions")
    reasons = assumed_share(engine, _answers_to_explain(asked), known, kg.graph())
    advance("reasons")
    return replace(figures, calibration=calibration, judged=judged, everyday=everyday, reasons=reasons)


def _answers_to_explain(questions: QuerySets[Queries]) -> list[tuple[Tree, int]]:
    """Held-out answers to questions with a variable in between, one a question."""
    return [
        (asked.structure.tree(asked.ids[row].tolist()), int(asked.hard[row][0]))
        for name in _EXPLAINED
        if (asked := questions["test"].get(name)) is not None
        for row in range(min(_REASONS, max(1, len(asked) // _FOR_A_REASON)))
    ]
