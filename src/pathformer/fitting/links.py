"""Learns how to predict single links: sources of evidence, their mixture, and its probabilities.

Everything is learned twice over the same code: first on the train graph, where held-out links teach the mixture and
judge it, then on all facts, which is what the engine answers with. Half of the held-out questions of `valid` learn the
mixture by which the other half is scored for the probabilities, and the other way round; the engine's own mixture is
learned on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pathformer.evaluation.link_ranks import link_questions, rank_evidence
from pathformer.evaluation.metrics import score_answers
from pathformer.fitting.held_out_predictions import graph_without
from pathformer.fitting.link_scores import LinkScores
from pathformer.fitting.listing import learn_listing
from pathformer.kg.graph import Graph
from pathformer.kg.holdout import spell_out
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.calibration import LinkCalibration, Predictions
from pathformer.links.evidence._base import Evidence, Ids
from pathformer.links.mixing import Features, Mixing, Question, features
from pathformer.links.scorer import LinkScorer
from pathformer.querysets.queries import Queries

__all__ = [
    "ENOUGH",
    "LearnedLinks",
    "Scored",
    "ask_links",
    "held_out_links",
    "learn_links",
    "learn_mixture",
    "measure_links",
]

ENOUGH = 20  # fewest held-out triples that anything is measured on
_MOST = 4000  # held-out questions that the mixture is learned from
_LISTED, _DRAWN = 100, 200  # candidates of a question: of each source the best, and others at random
_TOP = 10  # predictions of a question that probabilities are fitted and measured on
_TOGETHER = 64  # heads that are scored at once


@dataclass(frozen=True, eq=False, slots=True)
class Scored:
    """What the sources say of one held-out question."""

    relation: int
    given: Features  # of all entities
    missing: Ids
    known: int


@dataclass(frozen=True, eq=False, slots=True)
class LearnedLinks:
    """The scorer as it was judged, on the train graph, and as it answers, on all facts."""

    judged: LinkScorer
    serving: LinkScorer
    scores: LinkScores | None  # on held-out links; None where none could be held out


def learn_links(
    kg: KnowledgeGraph, sources: Sequence[Evidence], relearned: Sequence[Evidence] = (), seed: int = 0
) -> LearnedLinks:
    """Learns the mixture of sources that were made on the train graph, and measures it.

    relearned: sources that were learned once more, on all facts, to answer with; the others are computed anew.
    """
    train, names = kg.graph("train"), [source.name for source in sources]
    if min(len(kg.splits.get(part, ())) for part in ("valid", "test")) < ENOUGH:
        alone = LinkScorer(train, sources, Mixing.even(names))
        return LearnedLinks(alone, _serve(alone, kg.graph(), relearned), None)
    stating = spell_out(kg)
    asked = held_out_links(stating, "valid", graph_without(stating, "valid"), _MOST, seed)
    mixing, calibration = learn_mixture(names, ask_links(sources, asked), seed)
    judged = LinkScorer(train, sources, mixing, calibration, learn_listing(stating, sources, mixing, seed))
    tested = held_out_links(stating, "test", stating.graph("valid"), _MOST, seed)
    serving = _serve(judged, kg.graph(), relearned)
    return LearnedLinks(judged, serving, measure_links(judged, tested) if len(tested) else None)


def _serve(judged: LinkScorer, graph: Graph, relearned: Sequence[Evidence]) -> LinkScorer:
    """Returns the scorer on all facts."""
    known = {source.name: source for source in relearned}
    sources = [known.get(source.name) or source.on(graph) for source in judged.sources]
    return LinkScorer(graph, sources, judged.mixing, judged.calibration, judged.listing)


def held_out_links(kg: KnowledgeGraph, part: str, rest: Graph, most: int | None = None, seed: int = 0) -> Queries:
    """Returns the questions whose answers a part of the graph adds to `rest`, at most so many of them."""
    asked = link_questions(kg.splits[part], rest)
    if most is None or len(asked) <= most:
        return asked
    return asked.take(np.sort(np.random.default_rng(seed).permutation(len(asked))[:most]))


def ask_links(sources: Sequence[Evidence], asked: Queries) -> list[Scored]:
    """Asks every source about held-out questions; known tails are no candidates."""
    found: list[Scored | None] = [None] * len(asked)
    relations, heads = asked.ids[:, 1], asked.ids[:, 0].astype(np.int64)
    for relation in np.unique(relations).tolist():
        rows = np.flatnonzero(relations == relation)
        for first in range(0, len(rows), _TOGETHER):
            some = rows[first : first + _TOGETHER]
            known = [asked.easy[row].astype(np.int64) for row in some]
            given = features(sources, heads[some], relation, known)
            for row, one, easy in zip(some, given, known, strict=True):
                found[row] = Scored(relation, one, asked.hard[row].astype(np.int64), len(easy))
    return [one for one in found if one is not None]


def learn_mixture(sources: Sequence[str], scored: Sequence[Scored], seed: int = 0) -> tuple[Mixing, LinkCalibration]:
    """Learns the mixture, and the probabilities of what it says of questions that it has not seen."""
    draw = np.random.default_rng(seed)
    half = draw.permutation(len(scored)) % 2
    predictions, right = [], []
    for side in (0, 1):
        mixing = Mixing.fit(sources, _choices([one for one, h in zip(scored, half, strict=True) if h == side], draw))
        for one in (one for one, h in zip(scored, half, strict=True) if h != side):
            row = mixing.scores(one.given, one.relation)
            best = np.argsort(-row, kind="stable")[:_TOP]
            best = best[np.isfinite(row[best])]
            predictions.append(Predictions.of(one.relation, row[best], one.known))
            right.append(np.isin(best, one.missing))
    calibration = (
        LinkCalibration.fit(Predictions.join(predictions), np.concatenate(right))
        if predictions
        else LinkCalibration.none()
    )
    return Mixing.fit(sources, _choices(scored, draw)), calibration


def _choices(scored: Sequence[Scored], draw: np.random.Generator) -> list[Question]:
    """Returns each missing link as a choice: it, the best candidates of each source, and others drawn at random.

    What is drawn stands for all that is not listed.
    """
    if len(scored) > _MOST:
        scored = [scored[i] for i in draw.permutation(len(scored))[:_MOST]]
    choices = []
    for one in scored:
        values = one.given.values
        candidates = np.flatnonzero(np.isfinite(values).all(axis=1))
        candidates = np.setdiff1d(candidates, one.missing, assume_unique=True)
        shares = values[candidates, ::2]  # of each source the logarithms of its shares
        depth = min(_LISTED, len(candidates))
        listed = np.unique(np.argpartition(-shares, depth - 1, axis=0)[:depth]) if depth else np.zeros(0, np.int64)
        others = np.setdiff1d(np.arange(len(candidates)), listed, assume_unique=True)
        drawn = others if len(others) <= _DRAWN else draw.choice(others, _DRAWN, replace=False)
        stands = np.concatenate([np.ones(1 + len(listed)), np.full(len(drawn), len(others) / max(len(drawn), 1))])
        rest = candidates[np.concatenate([listed, drawn])]
        for tail in one.missing:
            if np.isfinite(values[tail]).all():
                chosen = np.concatenate([[tail], rest])
                choices.append(Question(one.relation, values[chosen], stands.astype(np.float32)))
    return choices


def measure_links(scorer: LinkScorer, asked: Queries) -> LinkScores:
    """Ranks the missing links of questions among all entities but the other answers."""
    return LinkScores.of({name: score_answers(ranks) for name, ranks in rank_evidence(scorer, asked).items()})
