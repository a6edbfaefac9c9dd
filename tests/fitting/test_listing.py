"""Probabilities of a list over all heads, most of which miss nothing."""

from __future__ import annotations

import numpy as np
import pytest
from support.engines import random_triples

import pathformer as pf
from pathformer.fitting.held_out_predictions import graph_without
from pathformer.fitting.links import learn_links
from pathformer.fitting.listing import list_predictions
from pathformer.links.evidence.counts import Counts
from pathformer.links.evidence.linear import Linear
from pathformer.links.mixing import Mixing
from pathformer.links.scorer import LinkScorer


@pytest.fixture(scope="module")
def kg() -> pf.KnowledgeGraph:
    return pf.KnowledgeGraph.from_triples(random_triples(60, 3, 900)).split(0.1, 0.1)


@pytest.fixture(scope="module")
def links(kg: pf.KnowledgeGraph) -> LinkScorer:
    graph = kg.graph("train")
    return learn_links(kg, [Linear.of(graph), Counts(graph)]).judged


def test_right_is_what_the_part_states(kg: pf.KnowledgeGraph) -> None:
    """All pairs are asked, and every held-out link whose head has a fact of the relation is found where it ranks."""
    train, rest = kg.graph("train"), graph_without(kg, "valid")
    mixing = Mixing.even(["linear", "counts"])
    given, right = list_predictions(kg, "valid", rest, [Linear.of(train), Counts(train)], mixing)
    assert (given.rank == 1).sum() == len(rest.pair_relation)
    assert given.rank.max() == 50
    missing = {(h, r, t) for h, r, t in kg.splits["valid"].tolist()}
    missing |= {(t, r ^ 1, h) for h, r, t in missing}
    asked = [link for link in missing if len(rest.tails_of(*link[:2])) and not rest.has(*link)]
    scorer = LinkScorer(train, [Linear.of(train), Counts(train)], mixing)
    found = 0
    for head, relation, tail in asked:
        row = scorer.shares(np.array([head]), relation, [rest.tails_of(head, relation).astype(np.int64)])[0]
        found += tail in np.argsort(-row, kind="stable")[:50]
    assert right.sum() == found > 0


def test_a_list_promises_about_what_it_holds(kg: pf.KnowledgeGraph, links: LinkScorer) -> None:
    """On other held-out facts than those it was fitted on; questions that have an answer promise more."""
    given, right = list_predictions(kg, "test", kg.graph("valid"), links.sources, links.mixing)
    promised = links.listing.probabilities(given).sum()
    assert promised == pytest.approx(right.sum(), rel=0.2)
    assert links.calibration.probabilities(given).sum() > 1.5 * promised
