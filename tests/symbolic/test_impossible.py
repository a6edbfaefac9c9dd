"""What the graph excludes, against all that larger graphs say."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from support.query_strategies import ENTITIES, RELATIONS, Edges, evaluate, graphs, trees

from pathformer.kg.graph import Graph
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree
from pathformer.symbolic.impossible import impossible_answers

EVERY = frozenset(product(range(ENTITIES), range(RELATIONS), range(ENTITIES)))


def out(tree: Tree, edges: Edges) -> set[int]:
    graph = Graph.from_triples(np.array(sorted(edges), np.int32).reshape(-1, 3), ENTITIES, RELATIONS)
    return set(impossible_answers(tree, graph).tolist())


@given(trees(), graphs(), graphs())
@settings(max_examples=300)
def test_what_is_refuted_answers_no_larger_graph(tree: Tree, edges: Edges, more: Edges) -> None:
    barred = out(tree, edges)
    for larger in (edges, edges | more, EVERY):
        assert not barred & evaluate(tree, larger)


def test_a_stated_negated_part_refutes_and_a_missing_positive_one_does_not() -> None:
    edges = frozenset({(0, 0, 1), (1, 1, 0), (2, 2, 3), (3, 3, 2)})
    positive, negative = Projection(0, Anchor(0)), Projection(2, Anchor(2))
    assert out(positive, edges) == set()
    assert out(Intersection((positive, Negation(negative))), edges) == {3}
    assert out(Projection(4, Intersection((positive, Negation(negative)))), edges) == set()
    assert out(Intersection((positive, Negation(Projection(4, negative)))), edges) == set()
