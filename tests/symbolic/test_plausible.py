"""Trees that make no sense of a graph are found and named; sensible ones never are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pathformer.kg.graph import Graph
from pathformer.kg.schema import RelationSchema
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.symbolic.answer import answer
from pathformer.symbolic.plausible import (
    find_impossible_link,
    find_unprecedented_link,
    is_plausible,
    log_mean_tails,
    say_impossible,
    say_unprecedented,
)

ENTITIES, RELATIONS = 8, 6
TRIPLES = st.lists(
    st.tuples(st.integers(0, ENTITIES - 1), st.integers(0, RELATIONS // 2 - 1).map(lambda r: 2 * r), st.integers(0, 7)),
    max_size=12,
)


def graph_of(triples: list[tuple[int, int, int]]) -> Graph:
    return Graph.from_triples(np.array(triples, np.int64).reshape(-1, 3), ENTITIES, RELATIONS)


def relations_of(graph: Graph, entity: int) -> set[int]:
    return set(graph.relations_of(entity).tolist())


@given(TRIPLES)
def test_a_link_is_impossible_where_its_start_has_no_relation_beside_it(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    schema = RelationSchema(graph)
    held = [relations_of(graph, e) for e in range(ENTITIES)]
    for relation in range(RELATIONS):
        beside = set().union(*(own for own in held if relation in own))
        for entity, own in enumerate(held):
            impossible = find_impossible_link(Projection(relation, Anchor(entity)), schema) is not None
            assert impossible is (not own & beside)
            assert is_plausible(entity, Projection(relation ^ 1, Anchor(0)), schema) is bool(own & beside)


@given(TRIPLES)
def test_tails_of_several_links_are_the_fewest_and_of_alternatives_the_most(
    triples: list[tuple[int, int, int]],
) -> None:
    schema = RelationSchema(graph_of(triples))
    one, other = (float(schema.log_mean_tails[relation]) for relation in (0, 3))
    two = (Projection(0, Projection(0, Anchor(1))), Projection(3, Anchor(3)))
    denied = Negation(Projection(4, Anchor(0)))
    assert log_mean_tails(two[0], schema) == one
    assert log_mean_tails(Intersection((*two, denied)), schema) == min(one, other)
    assert log_mean_tails(Union(two), schema) == max(one, other)
    assert [log_mean_tails(tree, schema) for tree in (denied, Intersection((denied, denied)), Anchor(0))] == [0.0] * 3


@given(TRIPLES, st.lists(st.integers(0, RELATIONS - 1), min_size=1, max_size=3), st.integers(0, ENTITIES - 1))
def test_what_the_graph_has_is_never_doubted(triples: list[tuple[int, int, int]], chain: list[int], start: int) -> None:
    graph = graph_of(triples)
    schema = RelationSchema(graph, several=1)
    tree: Tree = Anchor(start)
    for relation in chain:
        tree = Projection(relation, tree)
    for entity in answer(tree, graph).tolist():
        assert find_impossible_link(tree, schema) is None
        assert find_unprecedented_link(tree, schema) is None
        assert is_plausible(entity, tree, schema)


def test_what_is_strange_is_told_in_names_that_say_which_one_is_meant() -> None:
    vocabulary = Vocabulary.of(["p1", "p2", "p3"], ["http://x.org/knows", "http://x.org/likes"], ["Ann", "Ann", "Bea"])
    link, other = (0, Anchor(0)), (3, Anchor(2))
    assert say_impossible(link, vocabulary) == "In this graph `knows` never starts from anything like p1."
    assert say_unprecedented(link, vocabulary) == "In this graph nothing like p1 is the subject of `knows`."
    assert say_unprecedented(other, vocabulary) == "In this graph nothing like Bea is the object of `likes`."
