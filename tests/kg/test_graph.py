"""The index against a plain dictionary of sets, on random triples."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.errors import InputError
from pathformer.kg.graph import Graph
from pathformer.kg.keys import merge, pack, unpack

N, R = 6, 6
triples = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, R - 1), st.integers(0, N - 1)), max_size=40)


def table(rows: list[tuple[int, int, int]]) -> np.ndarray:
    return np.array(rows, np.int32).reshape(-1, 3)


@given(triples)
def test_the_index_is_the_set_of_edges_and_their_inverses(rows: list[tuple[int, int, int]]) -> None:
    edges: dict[tuple[int, int], set[int]] = defaultdict(set)
    for head, relation, tail in rows:
        edges[head, relation].add(tail)
        edges[tail, relation ^ 1].add(head)
    graph = Graph.from_triples(table(rows), N, R)
    assert graph.edges == sum(map(len, edges.values()))
    for head in range(N):
        assert graph.relations_of(head).tolist() == sorted(r for h, r in edges if h == head)
        for relation in range(R):
            assert graph.tails_of(head, relation).tolist() == sorted(edges.get((head, relation), ()))
            assert [graph.has(head, relation, tail) for tail in range(N)] == [
                tail in edges.get((head, relation), ()) for tail in range(N)
            ]
    forward = {(h, r, t) for (h, r), tails in edges.items() for t in tails if r % 2 == 0}
    assert set(map(tuple, graph.triples().tolist())) == forward
    heads = [head for head in range(N) for _ in graph.relations_of(head)]
    assert graph.heads_of().tolist() == heads
    assert graph.heads_of(np.arange(len(heads))[::-2]).tolist() == heads[::-2]


@given(triples)
def test_order_and_repeats_change_nothing(rows: list[tuple[int, int, int]]) -> None:
    one, other = Graph.from_triples(table(rows), N, R), Graph.from_triples(table(rows[::-1] + rows), N, R)
    for array in ("head_ptr", "pair_relation", "pair_ptr", "tails"):
        assert np.array_equal(getattr(one, array), getattr(other, array))
        assert getattr(one, array).dtype == getattr(other, array).dtype


@given(triples)
def test_keys_are_triples(rows: list[tuple[int, int, int]]) -> None:
    packed = pack(table(rows), N, R)
    assert unpack(packed, N, R).tolist() == [list(row) for row in rows]
    assert unpack(merge(packed), N, R).tolist() == [list(row) for row in sorted(set(rows))]
    backwards = [[tail, relation ^ 1, head] for head, relation, tail in rows]
    assert unpack(pack(table(rows), N, R, inverse=True), N, R).tolist() == backwards


def test_what_does_not_fit_a_key_is_refused() -> None:
    with pytest.raises(InputError, match="3,000,000,000 entities and 2 relations do not fit a 64-bit key"):
        Graph.from_triples(table([]), 3_000_000_000, 2)
    assert Graph.from_triples(table([]), 1_000_000, 2).edges == 0
