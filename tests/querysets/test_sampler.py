"""The sampler: what it draws satisfies the protocol's rules, whatever the number of threads."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pathformer.kg.graph import Graph
from pathformer.query.structures import STRUCTURES, structure
from pathformer.querysets.queries import Queries
from pathformer.querysets.sampler import Rules, draw_rows, list_links, sample
from pathformer.symbolic.answer import answer
from pathformer.symbolic.graph_pair import GraphPair

ENTITIES, RELATIONS = 60, 8


def triples(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(0, ENTITIES, count),
        rng.integers(0, RELATIONS // 2, count) * 2,
        rng.integers(0, ENTITIES, count),
    ]
    return np.stack(columns, axis=1)


SMALL = Graph.from_triples(triples(300, 0), ENTITIES, RELATIONS)
LARGE = Graph.from_triples(np.concatenate([triples(300, 0), triples(40, 1)]), ENTITIES, RELATIONS)
PAIR = GraphPair.of(LARGE, SMALL)


def answers(queries: Queries, row: int, graph: Graph) -> set[int]:
    return set(answer(queries.structure.tree(queries.ids[row].tolist()), graph).tolist())


@pytest.mark.parametrize("name", [name for name in STRUCTURES if name != "1p"])
def test_evaluation_queries_follow_the_rules(name: str) -> None:
    queries = sample(STRUCTURES[name], PAIR, 30, stream="test", rules=Rules(limit=20))
    assert len(queries) == 30
    assert len({tuple(row) for row in queries.ids.tolist()}) == 30
    for row in range(30):
        small, large = answers(queries, row, SMALL), answers(queries, row, LARGE)
        assert set(queries.easy[row].tolist()) == small
        assert set(queries.hard[row].tolist()) == large - small
        assert 0 < len(large - small) <= 20
        if queries.structure.negated:
            assert 0 < len(small - large) <= 20


@pytest.mark.parametrize("name", ["2p", "2u", "pin", "inp"])
def test_training_queries_have_answers_up_to_the_limit(name: str) -> None:
    for limit in (None, 5):
        queries = sample(STRUCTURES[name], GraphPair.of(LARGE), 60, rules=Rules(limit=limit))
        assert len(queries) == 60
        assert queries.easy.counts.min() > 0
        assert not len(queries.hard.values)
        assert queries.easy.counts.max() > 5 if limit is None else queries.easy.counts.max() <= 5


def test_no_hop_undoes_its_neighbour() -> None:
    for forward in (False, True):
        rows, _ = draw_rows(STRUCTURES["3p"], GraphPair.of(LARGE), 400, rules=Rules(forward=forward))
        assert not np.any(rows[:, 1] == rows[:, 2] ^ 1)
        assert not np.any(rows[:, 2] == rows[:, 3] ^ 1)


def test_at_a_fork_the_rule_starts_anew() -> None:
    rows, _ = draw_rows(STRUCTURES["ip"], GraphPair.of(LARGE), 2000, rules=Rules())
    assert np.any(rows[:, 1] == rows[:, 4] ^ 1)


def test_branches_of_one_shape_differ() -> None:
    rows, _ = draw_rows(STRUCTURES["3i"], GraphPair.of(SMALL), 2000, rules=Rules())
    branches = rows.reshape(-1, 3, 2)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not np.any(np.all(branches[:, one] == branches[:, other], axis=1))


def test_the_same_whatever_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("PATHFORMER_THREADS", count)
        drawn.append(sample(STRUCTURES["pin"], PAIR, 200, stream="test", rules=Rules(limit=30)))
    for other in drawn[1:]:
        assert np.array_equal(drawn[0].ids, other.ids)
        assert np.array_equal(drawn[0].easy.values, other.easy.values)
        assert np.array_equal(drawn[0].hard.ptr, other.hard.ptr)


def test_another_seed_split_or_structure_draws_others() -> None:
    first, _ = draw_rows(STRUCTURES["2i"], PAIR, 50, seed=0, stream="test", rules=Rules())
    again, _ = draw_rows(STRUCTURES["2i"], PAIR, 50, seed=0, stream="test", rules=Rules())
    seed, _ = draw_rows(STRUCTURES["2i"], PAIR, 50, seed=1, stream="test", rules=Rules())
    stream, _ = draw_rows(STRUCTURES["2i"], PAIR, 50, seed=0, stream="valid", rules=Rules())
    assert np.array_equal(first, again)
    assert not np.array_equal(first, seed)
    assert not np.array_equal(first, stream)


def test_fewer_draws_are_the_first_of_more() -> None:
    few, _ = draw_rows(STRUCTURES["2p"], PAIR, 20, stream="test", rules=Rules())
    many, _ = draw_rows(STRUCTURES["2p"], PAIR, 300, stream="test", rules=Rules())
    assert np.array_equal(few, many[:20])


def test_a_graph_that_holds_no_more_ends_the_search() -> None:
    graph = Graph.from_triples(np.array([[0, 0, 1], [1, 0, 2]]), 3, 2)
    rows, fates = draw_rows(STRUCTURES["2p"], GraphPair.of(graph), 100, rules=Rules())
    assert sorted(map(tuple, rows.tolist())) == [(0, 0, 0), (2, 1, 1)]  # all there is: two steps on, two steps back
    assert fates.counts["accepted"] > fates.repeated > 0
    assert fates.attempts < 500_000


def test_a_structure_that_is_not_there_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["pathformer.querysets.sampler"], "PATIENCE", 50_000)
    graph = Graph.from_triples(np.array([[0, 0, 1]]), 2, 2)
    rows, fates = draw_rows(STRUCTURES["3p"], GraphPair.of(graph), 100, rules=Rules())
    assert rows.shape == (0, 4)
    assert fates.counts["broken"] == fates.attempts >= 50_000


def test_attempts_can_be_bounded() -> None:
    """In whole blocks, and with the same queries as without the bound, as far as they come."""
    every, _ = draw_rows(STRUCTURES["3i"], PAIR, 10**6, rules=Rules())
    few, fates = draw_rows(STRUCTURES["3i"], PAIR, 10**6, rules=Rules(attempts=5000))
    assert fates.attempts == 8192
    assert 0 < len(few) < len(every)
    assert np.array_equal(few, every[: len(few)])


def test_one_hop_queries_are_listed_whole() -> None:
    expected = {(int(h), int(r)) for h, r, t in _directed(LARGE) if not SMALL.has(h, r, t)}
    assert {tuple(row) for row in list_links(PAIR).tolist()} == expected
    every = {(int(h), int(r)) for h, r, _ in _directed(SMALL)}
    assert {tuple(row) for row in list_links(GraphPair.of(SMALL)).tolist()} == every
    queries = sample(STRUCTURES["1p"], PAIR, 3, stream="test", rules=Rules(limit=0, link_limit=1))
    assert queries.hard.counts.max() == 1  # its own limit, and no count
    assert len(queries) > 3


def test_a_shape_of_the_users_own() -> None:
    kind = structure("((((e,(r,)),(e,(r,r)),(u,)),(r,)),(e,(r,n)),(e,(r,)))")
    queries = sample(kind, PAIR, 20, stream="test", rules=Rules(limit=30))
    assert len(queries) == 20
    for row in range(20):
        assert set(queries.easy[row].tolist()) == answers(queries, row, SMALL)


def test_a_shape_whose_answers_no_edge_can_change_has_no_evaluation_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["pathformer.querysets.sampler"], "PATIENCE", 50_000)
    assert len(sample(structure("(e,(n,))"), PAIR, 5, stream="test")) == 0


def test_progress_is_told_and_never_past_the_aim() -> None:
    told: list[int] = []
    draw_rows(STRUCTURES["2i"], PAIR, 30, rules=Rules(), progress=told.append)
    assert told
    assert told == sorted(told)
    assert told[-1] == 30


def _directed(graph: Graph) -> list[tuple[int, int, int]]:
    forward = graph.triples().tolist()
    return [(h, r, t) for h, r, t in forward] + [(t, r ^ 1, h) for h, r, t in forward]


def test_some_of_the_queries_are_spread_over_all() -> None:
    queries = sample(STRUCTURES["2p"], PAIR, 9)
    assert queries.spread(None) is queries
    assert queries.spread(9) is queries
    some = queries.spread(3)
    assert some.ids.tolist() == queries.ids[[0, 4, 8]].tolist()
    assert some.hard[1].tolist() == queries.hard[4].tolist()
