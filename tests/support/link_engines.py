"""Engines that predict single links by what follows from the graph alone: nothing is trained."""

from __future__ import annotations

import numpy as np

import pathformer as pf
from pathformer.links.calibration import LinkCalibration, Predictions
from pathformer.links.evidence.counts import Counts
from pathformer.links.evidence.linear import Linear
from pathformer.links.mixing import Mixing
from pathformer.links.scorer import LinkScorer
from support.engines import random_triples


def random_graph() -> pf.KnowledgeGraph:
    """A graph of 150 entities: more than are looked at first as tails of one head."""
    return pf.KnowledgeGraph.from_triples(random_triples(entities=150, drawn=900), name="random")


def link_scorer(kg: pf.KnowledgeGraph | None = None) -> LinkScorer:
    """A scorer with probabilities of both kinds, fitted on what was drawn at random."""
    graph = (kg or random_graph()).graph()
    rng, count = np.random.default_rng(0), 2000
    given = Predictions.join([Predictions.of(2, np.sort(-rng.exponential(4, 10))[::-1], 3) for _ in range(count // 10)])
    likely = np.exp(given.log_share) / given.rank
    likelier, likely = (LinkCalibration.fit(given, rng.random(count) < p) for p in (likely, likely / 4))
    return LinkScorer(graph, [Linear.of(graph), Counts(graph)], Mixing.even(["linear", "counts"]), likelier, likely)


def link_engine(kg: pf.KnowledgeGraph | None = None) -> pf.Engine:
    """An engine of links alone."""
    kg = kg or random_graph()
    return pf.Engine(kg, links=link_scorer(kg))
