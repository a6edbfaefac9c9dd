"""Statistics of relations: what loops over all entities find."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pathformer.kg.graph import Graph
from pathformer.kg.schema import RelationSchema

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
def test_relations_beside_are_those_of_the_entities_it_leaves(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    schema = RelationSchema(graph)
    for relation in range(RELATIONS):
        held = [relations_of(graph, e) for e in range(ENTITIES)]
        naive = set().union(*(own for own in held if relation in own))
        assert set(np.flatnonzero(schema.relations_beside(relation)).tolist()) == naive
        assert schema.relations_beside(relation) is schema.relations_beside(relation)  # kept


@given(TRIPLES)
def test_the_mean_number_of_tails(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    for relation in range(RELATIONS):
        several = [n for e in range(ENTITIES) if (n := len(graph.tails_of(e, relation)))]
        mean = float(np.log(np.mean(several))) if several else 0.0
        np.testing.assert_allclose(RelationSchema(graph).log_mean_tails[relation], mean)


@given(TRIPLES)
def test_however_many_relations_are_asked_for_they_are_the_same(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    plain, many = RelationSchema(graph), RelationSchema(graph, scanned=1, kept=2)  # the others come from a sorted list
    for relation in [*range(RELATIONS), *range(RELATIONS)]:
        assert many.starts(relation).tolist() == plain.starts(relation).tolist()
        assert many.relations_beside(relation).tolist() == plain.relations_beside(relation).tolist()
        assert plain.starts(relation).tolist() == [e for e in range(ENTITIES) if relation in relations_of(graph, e)]


@given(TRIPLES, st.integers(0, ENTITIES - 1), st.integers(0, RELATIONS - 1), st.integers(1, 4))
def test_alike_is_what_shares_the_most_common_relations(
    triples: list[tuple[int, int, int]], entity: int, relation: int, several: int
) -> None:
    graph = graph_of(triples)
    held = [relations_of(graph, e) for e in range(ENTITIES)]
    common = sorted(held[entity], key=lambda r: (-sum(r in own for own in held), r))
    shared = [
        [e for e in range(ENTITIES) if e != entity and set(common[:n]) <= held[e]] for n in range(len(common) + 1)
    ]
    alike = next((found for found in reversed(shared[1:]) if len(found) >= several), [])
    schema = RelationSchema(graph, several=several)
    assert schema.count_alike(entity, relation) == (len(alike), sum(relation in held[e] for e in alike))


@given(TRIPLES)
def test_the_share_of_those_that_a_relation_enters_and_leaves(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    held = [relations_of(graph, e) for e in range(ENTITIES)]
    for relation in range(RELATIONS):
        both = [relation in own for own in held if relation ^ 1 in own]
        assert RelationSchema(graph).share_at_both_ends(relation) == (sum(both) / len(both) if both else 0)


@given(TRIPLES, st.integers(0, 3))
def test_what_leads_from_nothing_to_itself(triples: list[tuple[int, int, int]], several: int) -> None:
    graph = graph_of(triples)
    schema = RelationSchema(graph, several=several)
    for relation in [*range(RELATIONS), *range(RELATIONS)]:
        leaving, entered = (
            [e for e in range(ENTITIES) if way in relations_of(graph, e)] for way in (relation, relation ^ 1)
        )
        itself = any(graph.has(e, relation, e) for e in leaving)
        assert schema.may_link_to_itself(relation) is (itself or max(len(leaving), len(entered)) < several)
