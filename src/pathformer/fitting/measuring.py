"""Measures a trained model on held-out questions: figures beside the baseline, probabilities and their reliability."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.reliability import Reliability
from pathformer.engine.engine import Engine
from pathformer.evaluation.evaluate import ModelRanker, Ranker, ScoreRanker, evaluate, reference_filter
from pathformer.evaluation.link_ranks import LinkRanker
from pathformer.evaluation.metrics import reciprocal_ranks
from pathformer.evaluation.report import Report
from pathformer.evaluation.search_ranker import SearchRanker
from pathformer.fitting.assumed import AssumedShare, assumed_share
from pathformer.fitting.held_out_predictions import (
    find_predictions,
    fit_calibration,
    graph_without,
    measure_reliability,
)
from pathformer.fitting.links import ENOUGH
from pathformer.fitting.report import RelationScore
from pathformer.kg.holdout import spell_out
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.frequency import Frequency
from pathformer.models._encoder import model_of
from pathformer.query.tree import Tree
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.search.presets import PRESETS
from pathformer.text import percent

__all__ = ["ENOUGH", "MEASURES", "Measured", "Ways", "held_out_triples", "measure"]

MEASURES = 5  # parts of `measure` that are shown as progress

_EXPLAINED = ("2p", "3p", "ip", "pi", "up", "inp", "pin", "pni")  # structures with a variable to bind
_REASONS = 12  # answers of a structure that are explained
_FOR_A_REASON = 10  # one question in so many is explained, because a reason takes as long as several searches
_SEARCHING = 0.6  # share of the time that searching may take
_TRIED, _FEWEST = 2, 20  # questions of a structure: for a trial of the speed, and the fewest for probabilities
_RELATIONS = 40  # relations in the table of figures


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured:
    """What was measured: nothing where no triple was held out, no probabilities where too few were."""

    scores: Report | None = None  # on answers that need a held-out triple
    frequency: Report | None = None  # of the counting baseline on these answers
    by_relation: tuple[RelationScore, ...] = ()
    calibration: Calibration = field(default_factory=Calibration.none)
    reliability: Reliability | None = None  # of the probabilities, on questions with a missing answer
    everyday: Reliability | None = None  # on questions drawn whether or not an answer is missing
    reasons: AssumedShare | None = None  # how often the links that reasons assume are true
    ways: Ways | None = None  # how the two ways to answer longer questions compare, where there are two


@dataclass(frozen=True, slots=True)
class Ways:
    """Two ways to answer questions of several hops: mean MRR over structures on the held-out part `valid`."""

    search: float
    points: float

    @property
    def is_search_better(self) -> bool:
        """Whether search answers."""
        return self.search >= self.points

    def sentence(self) -> str:
        """Returns a sentence for people, in percent."""
        better, other = ("search over the links", "points") if self.is_search_better else ("points", "search")
        high, low = sorted((self.search, self.points), reverse=True)
        return (
            f"Questions of several hops are answered by {better}: MRR {percent(high)} on held-out questions, "
            f"{percent(low)} by {other}."
        )


def measure(
    engine: Engine, questions: QuerySets[Queries], advance: Callable[[str], None], seconds: float | None = None
) -> Measured:
    """Measures the figures and probabilities of an engine that has none yet.

    advance: called with a word after each of the `MEASURES`; seconds: about how long it may take, which limits the
    number of questions.
    """
    if not questions["test"] or not questions["valid"]:
        return Measured()
    asked = questions if seconds is None else _in_time(engine, questions, seconds)
    ways = _compare_ways(engine, asked["valid"])
    if ways is not None:
        finders = replace(engine.finders, search=ways.is_search_better)
        engine = Engine.of(replace(engine.parts, finders=finders))
    figures = replace(_figures(engine, asked), ways=ways)
    advance("figures")
    stating = Engine.of(replace(engine.parts, kg=spell_out(engine.kg)))
    return figures if held_out_triples(stating.kg) < ENOUGH else _with_probabilities(figures, stating, asked, advance)


def _compare_ways(engine: Engine, valid: Mapping[str, Queries]) -> Ways | None:
    """Compares search and points on longer questions; None where there is one way only."""
    longer = {name: asked for name, asked in valid.items() if name != "1p"}
    if engine.links is None or not longer:
        return None
    search = SearchRanker(PRESETS["search"], engine.links.rows, engine.kg.graph("train"))
    return Ways(evaluate(search, longer).mrr, evaluate(ModelRanker(model_of(engine.encoder)), longer).mrr)


def held_out_triples(kg: KnowledgeGraph) -> int:
    """Returns the number of triples of the smaller held-out part."""
    return min(len(kg.splits.get(part, ())) for part in ("valid", "test"))


def _in_time(engine: Engine, questions: QuerySets[Queries], seconds: float) -> QuerySets[Queries]:
    """Returns as many of the held-out questions as can be searched in their share of the seconds."""
    graph, tried = engine.kg.graph("valid"), questions.thin_held_out(_TRIED)["test"]
    warm_up = questions.thin_held_out(1)["test"]  # so that what is made only once is not timed
    find_predictions(warm_up, graph, engine.finders)
    start = time.monotonic()
    find_predictions(tried, graph, engine.finders)
    each = (time.monotonic() - start) / sum(map(len, tried.values()))
    sets = [queries for split, queries in questions.splits.items() if split != "train"]
    whole = sum(len(asked) for queries in sets for asked in queries.values())
    most = max(len(asked) for queries in sets for asked in queries.values())
    affordable = _SEARCHING * seconds / (each * whole)
    return questions if affordable >= 1.0 else questions.thin_held_out(max(_FEWEST, int(affordable * most)))


def _figures(engine: Engine, asked: QuerySets[Queries]) -> Measured:
    kg, model = engine.kg, model_of(engine.encoder)
    ranker: Ranker = ModelRanker(model)
    if engine.links is not None and engine.finders.search:
        ranker = SearchRanker(PRESETS["search"], engine.links.rows, kg.graph("valid"))
    scores = evaluate(ranker, asked["test"])
    if engine.links is not None and "1p" in asked["test"]:  # single links are answered from the evidence
        own = evaluate(LinkRanker(engine.links), {"1p": asked["test"]["1p"]})
        scores = replace(scores, scores={**scores.scores, **own.scores})
    return Measured(
        scores=scores,
        frequency=evaluate(ScoreRanker(Frequency(kg.graph("train"))), asked["test"]),
        by_relation=_by_relation(kg, ModelRanker(model) if engine.links is None else LinkRanker(engine.links), asked),
    )


def _by_relation(kg: KnowledgeGraph, ranker: Ranker, questions: QuerySets[Queries]) -> tuple[RelationScore, ...]:
    """Returns the MRR of held-out links by relation, the most frequent relation first."""
    asked = questions["test"].get("1p")
    if asked is None:
        return ()
    ranks = ranker.rank(asked, asked.hard, reference_filter(asked))
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
    """Adds probabilities fitted on `valid`, with their reliability on `test`."""
    kg, finders = engine.kg, engine.finders
    learnt, known = graph_without(kg, "valid"), kg.graph("valid")
    calibration = fit_calibration(
        find_predictions(asked["valid"], learnt, finders),
        find_predictions(asked["everyday valid"], learnt, finders),
    )
    advance("probabilities")
    reliable = measure_reliability(calibration, find_predictions(asked["test"], known, finders))
    advance("reliability")
    everyday = measure_reliability(calibration, find_predictions(asked["everyday test"], known, finders))
    advance("everyday questions")
    reasons = assumed_share(engine, _answers_to_explain(asked), known, kg.graph())
    advance("reasons")
    return replace(figures, calibration=calibration, reliability=reliable, everyday=everyday, reasons=reasons)


def _answers_to_explain(questions: QuerySets[Queries]) -> list[tuple[Tree, int]]:
    """Returns a held-out answer for some of the questions that have a variable in between."""
    return [
        (asked.structure.tree(asked.ids[row].tolist()), int(asked.hard[row][0]))
        for name in _EXPLAINED
        if (asked := questions["test"].get(name)) is not None
        for row in range(min(_REASONS, max(1, len(asked) // _FOR_A_REASON)))
    ]
