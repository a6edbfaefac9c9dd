"""The missing links of a relation and the scores of pairs, against every head and tail one by one."""

from __future__ import annotations

import numpy as np
import pytest
from support.link_engines import link_scorer

from pathformer.links.calibration import Predictions
from pathformer.links.missing import MissingLinks, find_missing, score_pairs
from pathformer.links.scorer import LinkScorer

Link = tuple[int, int]


@pytest.fixture(scope="module")
def links() -> LinkScorer:
    return link_scorer()


def slow_probabilities(links: LinkScorer, head: int, relation: int) -> dict[int, float]:
    """The probability of every tail that the graph does not state, of one head."""
    row = links.shares(np.array([head]), relation)[0]
    order = [t for t in sorted(range(len(row)), key=lambda t: (-row[t], t)) if np.isfinite(row[t])]
    given = Predictions.of(relation, row[order], len(links.graph.tails_of(head, relation)))
    return dict(zip(order, links.listing.probabilities(given).tolist(), strict=True))


def as_pairs(found: MissingLinks) -> list[Link]:
    return list(zip(found.head.tolist(), found.tail.tolist(), strict=True))


@pytest.mark.parametrize("itself", [True, False])
@pytest.mark.parametrize("least", [0.0, 0.02, 1.0])
def test_what_is_likely_enough_and_not_stated(links: LinkScorer, least: float, itself: bool) -> None:
    heads, relation = np.arange(0, links.graph.entities, 4), 2
    tails = np.arange(links.graph.entities) % 3 > 0
    found = find_missing(links, relation, heads, tails, least=least, itself=itself)
    slow = {
        (head, tail): p
        for head in heads.tolist()
        for tail, p in slow_probabilities(links, head, relation).items()
        if p >= least and tails[tail] and (itself or head != tail)
    }
    assert sorted(as_pairs(found)) == sorted(slow)
    assert bool(slow) == (least < 1)
    np.testing.assert_allclose(found.probability, [slow[pair] for pair in as_pairs(found)])


def test_the_best_of_some_are_the_best_of_all(links: LinkScorer) -> None:
    heads, tails = np.arange(links.graph.entities), np.arange(links.graph.entities) % 3 > 0
    whole = find_missing(links, 2, heads, tails).ranked()
    some = find_missing(links, 2, heads, tails, top=5).ranked(5)
    assert as_pairs(some) == as_pairs(whole)[:5]
    assert (np.diff(whole.probability) <= 0).all()


def test_pairs_as_one_by_one(links: LinkScorer) -> None:
    heads, tails = np.array([3, 1, 8]), np.array([9, 2, 4, 0, 17])
    pairs = score_pairs(links, 2, heads, tails)
    for i, head in enumerate(heads.tolist()):
        likely, row = slow_probabilities(links, head, 2), links.shares(np.array([head]), 2)[0]
        for j, tail in enumerate(tails.tolist()):
            known = links.graph.has(head, 2, tail)
            assert pairs.known[i, j] == known
            assert np.isnan(pairs.score[i, j]) if known else pairs.score[i, j] == row[tail]
            assert pairs.probability[i, j] == pytest.approx(1.0 if known else likely[tail])
