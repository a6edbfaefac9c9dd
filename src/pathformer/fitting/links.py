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
import numpy.typing as npt

from pathformer.fitting.held_out_predictions import graph_without
from pathformer.fitting.link_scores import LinkScores
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
    "HeldOut",
    "LearnedLinks",
    "LinkRows",
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
class HeldOut:
    """The held-out questions (head, relation, ?) of one part of a graph, both directions."""

    ids: npt.NDArray[np.int64]  # (Q, 2) head, directed relation
    missing: tuple[Ids, ...]  # of each, the tails that the part adds
    known: tuple[Ids, ...]  # of each, the tails that the rest of the graph states

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, chosen: npt.NDArray[np.integer]) -> HeldOut:
        """Returns some of the questions."""
        return HeldOut(self.ids[chosen], tuple(self.missing[i] for i in chosen), tuple(self.known[i] for i in chosen))


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
    judged = LinkScorer(train, sources, *learn_mixture(names, ask_links(sources, asked), seed))
    tested = ask_links(sources, held_out_links(stating, "test", stating.graph("valid"), _MOST, seed))
    serving = _serve(judged, kg.graph(), relearned)
    return LearnedLinks(judged, serving, measure_links(judged, tested) if tested else None)


def _serve(judged: LinkScorer, graph: Graph, relearned: Sequence[Evidence]) -> LinkScorer:
    """Returns the scorer on all facts."""
    known = {source.name: source for source in relearned}
    sources = [known.get(source.name) or source.on(graph) for source in judged.sources]
    return LinkScorer(graph, sources, judged.mixing, judged.calibration)


class LinkRows:
    """The scores of single links, for `evaluation.ScoreRanker`."""

    def __init__(self, links: LinkScorer) -> None:
        self.links, self.entities = links, links.graph.entities

    def scores(self, queries: Queries) -> npt.NDArray[np.float32]:
        """Returns the score of every entity for every query of a head and a relation, (Q, N)."""
        rows = np.empty((len(queries), self.entities), np.float32)
        for relation in np.unique(queries.ids[:, 1]):
            chosen = queries.ids[:, 1] == relation
            rows[chosen] = self.links.shares(queries.ids[chosen, 0].astype(np.int64), int(relation))
        return rows


def held_out_links(kg: KnowledgeGraph, part: str, rest: Graph, most: int | None = None, seed: int = 0) -> HeldOut:
    """Returns the questions whose answers a part of the graph adds to `rest`, at most so many of them."""
    triples = kg.splits[part].astype(np.int64)
    both = np.concatenate([triples, np.stack([triples[:, 2], triples[:, 1] ^ 1, triples[:, 0]], axis=1)])
    keys, first = np.unique(both[:, 0] * kg.vocabulary.relation_count + both[:, 1], return_inverse=True)
    order = np.argsort(first, kind="stable")
    tails = np.split(both[order, 2], np.cumsum(np.bincount(first))[:-1])[: len(keys)]  # of no triples, one empty array
    ids = np.stack([keys // kg.vocabulary.relation_count, keys % kg.vocabulary.relation_count], axis=1)
    known = [rest.tails_of(int(h), int(r)).astype(np.int64) for h, r in ids]
    missing = [np.setdiff1d(own, there) for own, there in zip(tails, known, strict=True)]
    chosen = np.flatnonzero([len(own) > 0 for own in missing])
    if most is not None and len(chosen) > most:
        chosen = np.sort(np.random.default_rng(seed).permutation(chosen)[:most])
    return HeldOut(ids, tuple(missing), tuple(known)).take(chosen)


def ask_links(sources: Sequence[Evidence], questions: HeldOut) -> list[Scored]:
    """Asks every source about held-out questions; known tails are no candidates."""
    found: list[Scored | None] = [None] * len(questions)
    for relation in np.unique(questions.ids[:, 1]):
        rows = np.flatnonzero(questions.ids[:, 1] == relation)
        for first in range(0, len(rows), _TOGETHER):
            some = rows[first : first + _TOGETHER]
            given = features(sources, questions.ids[some, 0], int(relation), [questions.known[row] for row in some])
            for row, one in zip(some, given, strict=True):
                found[row] = Scored(int(relation), one, questions.missing[row], len(questions.known[row]))
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


def measure_links(scorer: LinkScorer, scored: Sequence[Scored]) -> LinkScores:
    """Ranks the missing links of questions among all entities but the other answers."""
    names = (*scorer.mixing.sources,)
    ranks: list[npt.NDArray[np.float64]] = []
    for one in scored:
        rows = [scorer.mixing.scores(one.given, one.relation), *one.given.values.T[1::2]]
        ranks.append(np.stack([_reciprocal_ranks(row, one.missing) for row in rows]))
    joined = np.concatenate(ranks, axis=1)
    mixed = joined[0]
    return LinkScores(
        links=joined.shape[1],
        mrr=float(mixed.mean()),
        hits={k: float((mixed >= 1 / k - 1e-9).mean()) for k in (1, 3, 10)},
        by_source=dict(zip(names, map(float, joined[1:].mean(axis=1)), strict=True)),
    )


def _reciprocal_ranks(row: npt.NDArray[np.floating], missing: Ids) -> npt.NDArray[np.float64]:
    """Returns the expected reciprocal rank of each missing tail, with ties in random order, (n,)."""
    others = np.delete(row, missing)
    found = []
    for tail in missing:
        better, equal = int((others > row[tail]).sum()), int((others == row[tail]).sum())
        found.append(float(np.mean(1.0 / (better + 1 + np.arange(equal + 1)))))
    return np.array(found)
