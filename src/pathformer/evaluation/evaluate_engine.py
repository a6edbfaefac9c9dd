"""Scores an engine on questions whose answers it does not know: ranks beside baselines, and probabilities.

Probabilities are those of the ten best predictions that a user gets. Ranks are over all entities, by what the engine
answers with: of single links the evidence for them, of longer questions the search over it or points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pathformer.engine.engine import Engine
from pathformer.errors import EngineError
from pathformer.evaluation.encoder_ranker import EncoderRanker
from pathformer.evaluation.engine_report import ENGINE, EngineReport
from pathformer.evaluation.evaluate import Ranker, ScoreRanker, reference_filter
from pathformer.evaluation.link_ranks import MIXED, rank_evidence
from pathformer.evaluation.metrics import Scores, score, score_answers
from pathformer.evaluation.predictions import Judged, judge
from pathformer.evaluation.probabilities import measure_probabilities
from pathformer.evaluation.questions import Questions
from pathformer.evaluation.ranks import Ranks, take_queries
from pathformer.evaluation.search_ranker import SearchScorer
from pathformer.kg.graph import Graph
from pathformer.links.frequency import Frequency
from pathformer.querysets.queries import Queries

__all__ = ["check_engine", "score_facts", "score_queries", "steps_of"]

Advance = Callable[[str, int], None]  # called with what is done, and the number of questions of each step
_COUNTING = "counting"
_LINKS = "1p"
_NAMES = {"linear": "linear recommender", "counts": _COUNTING}
_NO_TABLE = (
    "This engine keeps no table of rates by relation and rank to compare its probabilities with: too few facts were "
    "held out when it was fitted."
)
_ORDER = ("linear", "counts")  # of the baselines, before the other sources


def check_engine(engine: Engine) -> None:
    """Refuses an engine that predicts nothing."""
    if engine.links is None and engine.finders.points is None:
        raise EngineError(
            f"the engine of {engine.kg.name} has learned nothing and only answers what its graph states: there are no "
            "predictions to score. `pathformer fit` makes an engine that predicts"
        )


def steps_of(questions: Questions) -> int:
    """Returns how many questions are counted by `advance` in all: each is ranked, and asked as a user asks."""
    return 2 * sum(map(len, questions.queries.values()))


def score_facts(
    engine: Engine, questions: Questions, about: Mapping[str, Any] | None = None, advance: Advance | None = None
) -> EngineReport:
    """Scores an engine on missing links, each asked for in both directions and counted twice."""
    check_engine(engine)
    announce = advance or (lambda what, count: None)
    asked = questions.queries[_LINKS]
    found = _rank(engine, _LINKS, asked, questions.known, announce)
    ranks = {ENGINE: score_answers(found[ENGINE])}
    for words, direction in (("asked for the tail", 0), ("asked for the head", 1)):
        rows = (asked.ids[:, 1] % 2 == direction).nonzero()[0]
        ranks[words] = score_answers(take_queries(found[ENGINE], rows))
    ranks |= {who: score_answers(each) for who, each in found.items() if who != ENGINE}
    judged = {_LINKS: judge(engine, asked, questions.known, lambda count: announce("asking", count))}
    return _report(engine, {"links": ranks}, judged, questions, about)


def score_queries(
    engine: Engine, questions: Questions, about: Mapping[str, Any] | None = None, advance: Advance | None = None
) -> EngineReport:
    """Scores an engine on queries by structure, as benchmarks do: the mean over queries of the mean over answers."""
    check_engine(engine)
    announce = advance or (lambda what, count: None)
    ranks: dict[str, dict[str, Scores]] = {}
    judged: dict[str, Judged] = {}
    refused = []
    for name, asked in questions.queries.items():
        found = _rank(engine, name, asked, questions.known, announce)
        if not found:
            refused.append(name)
            announce("ranking", len(asked))
            continue
        ranks[name] = {who: score(each) for who, each in found.items()}
        judged[name] = judge(engine, asked, questions.known, lambda count: announce("asking", count))
    if not ranks:
        raise EngineError(
            f"the engine of {engine.kg.name} predicts nothing for {' or '.join(refused)}: "
            "`pathformer fit` with more --minutes learns questions of several hops"
        )
    notes = (f"The engine makes no predictions for {', '.join(refused)}: left out.",) if refused else ()
    return _report(engine, ranks, judged, questions, about, notes)


def _rank(engine: Engine, name: str, asked: Queries, known: Graph, announce: Advance) -> dict[str, Ranks]:
    """Ranks by what the engine answers with, then by each baseline; nothing where it makes no predictions."""
    counting = ScoreRanker(Frequency(known))
    if name == _LINKS and engine.links is not None:
        found = rank_evidence(engine.links, asked, lambda count: announce("ranking", count))
        if "counts" not in found:
            found["counts"] = _rank_by(counting, asked)
        rest = [source for source in found if source not in (MIXED, *_ORDER)]
        baselines = [*(source for source in _ORDER if source in found), *rest]
        return {ENGINE: found[MIXED], **{_NAMES.get(one, f"{one} alone"): found[one] for one in baselines}}
    ways = {way: _rank_by(ranker, asked) for way, ranker in _rankers(engine, asked, known)}
    announce("ranking", len(asked))
    if not ways:
        return {}
    (_, own), *others = ways.items()
    return {ENGINE: own, _COUNTING: _rank_by(counting, asked), **dict(others)}


def _rankers(engine: Engine, asked: Queries, known: Graph) -> Iterator[tuple[str, Ranker]]:
    """Yields the ways to answer queries of a structure, first the one that the engine takes."""
    table, points = engine.finders.table(known), engine.finders.points
    if table is not None:
        yield "search alone", ScoreRanker(SearchScorer(table))
    if points is not None and points[0].takes(asked.structure.tree(asked.ids[0].tolist())):
        yield "points alone", EncoderRanker(points[0])


def _rank_by(ranker: Ranker, asked: Queries) -> Ranks:
    return ranker.rank(asked, asked.hard, reference_filter(asked))


def _report(
    engine: Engine,
    ranks: Mapping[str, Mapping[str, Scores]],
    judged: Mapping[str, Judged],
    questions: Questions,
    about: Mapping[str, Any] | None,
    notes: Sequence[str] = (),
) -> EngineReport:
    rates = None if engine.links is None else engine.links.calibration.rates
    if rates is None and engine.links is not None and _LINKS in judged:
        notes = (*notes, _NO_TABLE)
    return EngineReport(
        about={"graph": engine.kg.name, "facts": engine.kg.triple_count, **(about or {})},
        ranks=ranks,
        probabilities=measure_probabilities(judged, engine.kg.vocabulary, rates),
        notes=(*questions.left_out, *notes),
    )
