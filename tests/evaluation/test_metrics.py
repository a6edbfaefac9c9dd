"""Metrics and tie policies against loops over the ranks they stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.evaluation.metrics import HITS, TIES, Scores, Ties, average, hits, reciprocal_ranks, score
from pathformer.evaluation.ranks import Ranks

PAIRS = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 3000)), min_size=1, max_size=8)


def ranks_of(rows: list[list[tuple[int, int]]]) -> Ranks:
    ptr = np.cumsum([0, *map(len, rows)])
    flat = np.array([pair for row in rows for pair in row], np.int32).reshape(-1, 2)
    return Ranks(ptr, flat[:, 0], flat[:, 1])


def possible(closer: int, tied: int, ties: Ties) -> list[float]:
    """The ranks that an answer may have under a policy, each as likely as the other."""
    match ties:
        case "expected":
            return [closer + 1 + place for place in range(tied + 1)]
        case "optimistic":
            return [closer + 1]
        case "pessimistic":
            return [closer + tied + 1]
        case "mean":
            return [closer + 1 + tied / 2]


@given(pairs=PAIRS, ties=st.sampled_from(TIES))
def test_each_answer_equals_the_loop_over_its_possible_ranks(pairs: list[tuple[int, int]], ties: Ties) -> None:
    ranks = ranks_of([pairs])
    for place, (closer, tied) in enumerate(pairs):
        choices = possible(closer, tied, ties)
        expected = math.fsum(1 / rank for rank in choices) / len(choices)
        assert reciprocal_ranks(ranks, ties)[place] == pytest.approx(expected, rel=1e-9)
        for k in HITS:
            share = sum(rank <= k for rank in choices) / len(choices)
            assert hits(ranks, k, ties)[place] == pytest.approx(share, rel=1e-12)


@given(rows=st.lists(PAIRS | st.just([]), max_size=6), ties=st.sampled_from(TIES))
def test_a_structure_is_the_mean_over_queries_of_the_mean_over_answers(
    rows: list[list[tuple[int, int]]], ties: Ties
) -> None:
    ranks = ranks_of(rows)
    scores = score(ranks, ties)
    asked = [row for row in rows if row]
    assert (scores.queries, scores.answers) == (len(asked), sum(map(len, rows)))
    if not asked:
        assert math.isnan(scores.mrr)
        return
    each = [reciprocal_ranks(ranks_of([row]), ties).mean() for row in asked]
    assert scores.mrr == pytest.approx(np.mean(each))
    assert scores.hits[3] == pytest.approx(np.mean([hits(ranks_of([row]), 3, ties).mean() for row in asked]))


@given(pairs=PAIRS)
def test_policies_are_ordered(pairs: list[tuple[int, int]]) -> None:
    ranks = ranks_of([pairs])
    best, expected, middle, worst = (
        reciprocal_ranks(ranks, t) for t in ("optimistic", "expected", "mean", "pessimistic")
    )
    slack = 1e-12
    assert np.all(best >= expected - slack)
    assert np.all(expected >= middle - slack)  # 1 / x is convex
    assert np.all(middle >= worst - slack)


def test_a_constant_scorer_gets_what_the_protocol_says() -> None:
    ranks = ranks_of([[(0, 14_504)]])  # FB15k-237: everything ties
    assert score(ranks, "expected").mrr == pytest.approx(0.0007, abs=5e-5)
    assert score(ranks, "optimistic").mrr == 1.0


def test_the_average_is_over_structures_not_queries() -> None:
    many = Scores(0.2, {1: 0.1, 3: 0.2, 10: 0.3}, queries=1000, answers=2000)
    few = Scores(0.6, {1: 0.5, 3: 0.6, 10: 0.7}, queries=10, answers=20)
    both = average([many, few])
    assert both.mrr == pytest.approx(0.4)
    assert both.hits[10] == pytest.approx(0.5)
    assert (both.queries, both.answers) == (1010, 2020)
