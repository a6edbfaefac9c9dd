"""Exact answers against brute force: the definitions of the set operators, on random graphs and random trees."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.query_strategies import ENTITIES, RELATIONS, Edges, evaluate, graphs, trees

from pathformer.errors import BenchmarkError, InputError
from pathformer.kg.graph import Graph
from pathformer.query.structures import STRUCTURES, instance_of_tree, structure, structure_of
from pathformer.query.tree import Anchor, Negation, Projection, Tree
from pathformer.symbolic.answer import answer, answer_rows, threads
from pathformer.symbolic.graph_pair import GraphPair


def index(edges: Edges) -> Graph:
    return Graph.from_triples(np.array(sorted(edges), np.int32).reshape(-1, 3), ENTITIES, RELATIONS)


def row_of(tree: Tree) -> list[int]:
    return list(structure_of(tree).row(instance_of_tree(tree)))


@given(trees(), graphs())
def test_one_query_is_brute_force(tree: Tree, edges: Edges) -> None:
    assert answer(tree, index(edges)).tolist() == sorted(evaluate(tree, edges))


@given(trees(), graphs(), graphs())
@example(Projection(0, Negation(Projection(0, Anchor(0)))), frozenset(), frozenset())
def test_bulk_is_brute_force_on_both_graphs(tree: Tree, small: Edges, more: Edges) -> None:
    large = small | more
    easy, hard = answer_rows(structure_of(tree), np.array([row_of(tree)]), GraphPair.of(index(large), index(small)))
    on_small, on_large = evaluate(tree, small), evaluate(tree, large)
    assert easy[0].tolist() == sorted(on_small)  # vanished answers stay easy
    assert hard[0].tolist() == sorted(on_large - on_small)


@given(st.lists(st.tuples(*[st.integers(0, ENTITIES - 1), st.integers(0, RELATIONS - 1)] * 2), max_size=30), graphs())
def test_bulk_keeps_the_order_of_rows(rows: list[tuple[int, ...]], edges: Edges) -> None:
    kind = STRUCTURES["2u"]
    table = np.array(rows, np.int32).reshape(-1, 4)
    easy, hard = answer_rows(kind, table, GraphPair.of(index(edges)))
    assert [easy[i].tolist() for i in range(len(easy))] == [sorted(evaluate(kind.tree(row), edges)) for row in rows]
    assert len(hard) == len(rows)
    assert not len(hard.values)


def test_many_large_answers_are_written_in_several_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    entities = 300_000  # four rows of answers fill the smallest output buffer
    triples = np.stack([np.zeros(entities), np.zeros(entities), np.arange(entities)], axis=1).astype(np.int32)
    graph = Graph.from_triples(triples, entities, 2)
    easy, _ = answer_rows(STRUCTURES["1p"], np.array([[0, 0]] * 9), GraphPair.of(graph))
    assert easy.counts.tolist() == [entities] * 9
    assert np.array_equal(easy[8], np.arange(entities))


def test_a_smaller_graph_must_be_a_part_of_the_larger() -> None:
    small, large = index(frozenset({(0, 0, 1), (1, 1, 0)})), index(frozenset({(0, 0, 2), (2, 1, 0)}))
    with pytest.raises(BenchmarkError, match="not a part of the larger: 2 of its 2 directed edges are not there"):
        GraphPair.of(large, small)


def test_a_deep_chain_and_a_wide_fork() -> None:
    graph = index(frozenset({(0, 0, 1), (1, 1, 0)}))
    chain = structure(f"(e,({'r,' * 200}))")
    easy, _ = answer_rows(chain, np.array([[0] + [0, 1] * 100]), GraphPair.of(graph))
    assert easy[0].tolist() == [0]
    fork = structure(f"({','.join(['(e,(r,))'] * 100)})")
    easy, _ = answer_rows(fork, np.array([[0, 0] * 100]), GraphPair.of(graph))
    assert easy[0].tolist() == [1]


def test_the_number_of_threads_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATHFORMER_THREADS", "3")
    assert threads() == 3
    for wrong in ("abc", "0", "-3", "²"):
        monkeypatch.setenv("PATHFORMER_THREADS", wrong)
        with pytest.raises(InputError, match=f"PATHFORMER_THREADS is '{wrong}'"):
            threads()


def test_without_a_number_there_are_as_many_threads_as_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATHFORMER_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 5}, raising=False)
    assert threads() == 3
    monkeypatch.delattr(os, "sched_getaffinity")  # where the system does not say what a process may use
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert threads() == 4
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert threads() == 1
