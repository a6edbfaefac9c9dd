"""Candidates of longer questions by search, against brute force over all assignments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.query_strategies import ENTITIES, RELATIONS, Edges, evaluate, graphs, trees
from support.search_twin import best_score, matrix, predictions, value, variables

from pathformer.engine.find.by_search import find_by_search
from pathformer.kg.graph import Graph
from pathformer.kg.schema import RelationSchema
from pathformer.links.table import LinkTable
from pathformer.query.structures import STRUCTURES
from pathformer.query.tree import Tree
from pathformer.search.settings import SearchSettings
from pathformer.symbolic.impossible import impossible_answers

USUAL = SearchSettings()


def world_of(edges: Edges, predicted: np.ndarray) -> tuple[RelationSchema, LinkTable]:
    graph = Graph.from_triples(np.array(sorted(edges), np.int32).reshape(-1, 3), ENTITIES, RELATIONS)
    return RelationSchema(graph), LinkTable(graph, lambda heads, relation: predicted[relation][heads])


@given(trees(max_leaves=4), graphs(), predictions(), st.integers(0, ENTITIES))
def test_known_answers_first_and_then_the_likeliest(tree: Tree, edges: Edges, predicted: np.ndarray, top: int) -> None:
    assume(len(list(variables(tree, USUAL))) <= 3)
    schema, table = world_of(edges, predicted)
    (found,) = find_by_search([tree], schema, table, top)
    known = evaluate(tree, edges)
    assert found.entities[: len(known)].tolist() == sorted(known)
    assert found.known.tolist() == [n < len(known) for n in range(len(found))]
    links = matrix(edges, predicted)
    refuted = set(impossible_answers(tree, schema.graph).tolist())
    beliefs = {e: best_score(tree, e, links, USUAL) for e in range(ENTITIES) if e not in {*known, *refuted}}
    others = found.entities[found.predicted].tolist()
    expected = sorted((belief for belief in beliefs.values() if belief > 0), reverse=True)[:top]
    assert [beliefs[e] for e in others] == pytest.approx(expected, abs=1e-5)
    assert len(set(others)) == len(others)
    assert np.exp(-found.distances[found.predicted]) == pytest.approx(expected, abs=1e-5)
    assert not found.distances[found.known].any()
    assert (np.diff(found.distances) >= 0).all()


@given(trees(max_leaves=6), graphs(), predictions())
def test_bindings_prove_the_belief(tree: Tree, edges: Edges, predicted: np.ndarray) -> None:
    schema, table = world_of(edges, predicted)
    (found,) = find_by_search([tree], schema, table, ENTITIES)
    assert found.assign is not None
    links = matrix(edges, predicted)
    for entity, far in zip(found.entities[found.predicted].tolist(), found.distances[found.predicted], strict=True):
        best = found.assign(entity)
        assert best is not None
        assert best.belief == pytest.approx(np.exp(-far), abs=1e-5)
        assert value(tree, entity, best.bindings, links, USUAL) == pytest.approx(best.belief, abs=1e-5)


def test_several_trees_are_as_one_by_one() -> None:
    draw = np.random.default_rng(0)
    predicted = draw.choice([0, 0.1, 0.3, 0.9], (RELATIONS, ENTITIES, ENTITIES)).astype(np.float32)
    forward = draw.integers(0, [ENTITIES, RELATIONS // 2, ENTITIES], (8, 3)) * [1, 2, 1]
    schema, table = world_of(frozenset(map(tuple, forward.tolist())), predicted)
    shapes = list(STRUCTURES.values())
    asked = [
        shape.tree(draw.integers(0, [ENTITIES if column == "e" else RELATIONS for column in shape.columns]).tolist())
        for shape in shapes
    ]
    together = find_by_search(asked, schema, table, 3)
    for tree, found in zip(asked, together, strict=True):
        (alone,) = find_by_search([tree], schema, table, 3)
        assert found.tree == tree
        assert found.entities.tolist() == alone.entities.tolist()
        assert found.distances.tolist() == alone.distances.tolist()
