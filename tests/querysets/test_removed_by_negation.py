"""What negations take away, against sets of answers found one query at a time."""

from __future__ import annotations

import numpy as np
import pytest

from pathformer.kg.graph import Graph
from pathformer.query.compile.negated_parts import positive_part
from pathformer.query.structures import NEGATION_STRUCTURES, STRUCTURES
from pathformer.querysets.removed_by_negation import add_removed, sample_by_removed_answers
from pathformer.querysets.sampler import sample
from pathformer.symbolic.answer import answer
from pathformer.symbolic.graph_pair import GraphPair


@pytest.fixture(scope="module")
def graph() -> Graph:
    rng = np.random.default_rng(1)
    triples = np.stack([rng.integers(0, 30, 260), rng.integers(0, 4, 260), rng.integers(0, 30, 260)], 1)
    return Graph.from_triples(np.unique(triples, axis=0), 30, 4)


@pytest.mark.parametrize("name", NEGATION_STRUCTURES)
def test_it_is_the_positive_part_less_the_answers(graph: Graph, name: str) -> None:
    queries = add_removed(sample(STRUCTURES[name], GraphPair.of(graph), 40), GraphPair.of(graph))
    part, columns = positive_part(queries.structure) or (queries.structure, ())
    assert queries.removed is not None
    assert queries.removed.counts.sum() > 0
    for row, ids in enumerate(queries.ids.tolist()):
        without = answer(part.tree([ids[column] for column in columns]), graph)
        answers = answer(queries.structure.tree(ids), graph)
        assert queries.removed[row].tolist() == np.setdiff1d(without, answers).tolist()


def test_without_a_negation_nothing_is_taken_away(graph: Graph) -> None:
    queries = sample(STRUCTURES["2i"], GraphPair.of(graph), 5)
    assert queries.removed is None
    found = add_removed(queries, GraphPair.of(graph)).removed
    assert found is not None
    assert found.counts.tolist() == [0] * 5


def test_it_goes_where_its_query_goes(graph: Graph) -> None:
    queries = add_removed(sample(STRUCTURES["2in"], GraphPair.of(graph), 9), GraphPair.of(graph))
    taken = queries.take(np.array([7, 2]))
    assert queries.removed is not None
    assert taken.removed is not None
    assert [row.tolist() for row in (taken.removed[0], taken.removed[1])] == [
        queries.removed[7].tolist(),
        queries.removed[2].tolist(),
    ]


def test_contested_queries_are_drawn_by_what_they_take_away(graph: Graph) -> None:
    pair, shape = GraphPair.of(graph), STRUCTURES["pin"]
    walked = add_removed(sample(shape, pair, 4 * 60, seed=1), pair)
    chosen = sample_by_removed_answers(shape, pair, 60, 5, seed=1)
    assert chosen.removed is not None
    assert walked.removed is not None
    assert len(chosen) == len(np.unique(chosen.ids, axis=0)) == 60
    assert {tuple(row) for row in chosen.ids.tolist()} <= {tuple(row) for row in walked.ids.tolist()}
    few, many = (np.minimum(part.counts, 5).mean() for part in (walked.removed, chosen.removed))
    assert many > 1.1 * few
    again = sample_by_removed_answers(shape, pair, 60, 5, seed=1)
    assert np.array_equal(chosen.ids, again.ids)
    assert not np.array_equal(chosen.ids, sample_by_removed_answers(shape, pair, 60, 5, seed=2).ids)


def test_a_small_graph_gives_as_many_as_it_has(graph: Graph) -> None:
    few = Graph.from_triples(np.array([[0, 0, 1], [0, 0, 2], [3, 0, 1], [3, 0, 4]]), 30, 4)
    assert 0 < len(sample_by_removed_answers(STRUCTURES["2in"], GraphPair.of(few), 50, 5)) < 50
