"""What every source of evidence keeps to, found by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.link_engines import random_graph

from pathformer import plugins
from pathformer.kg.graph import Graph
from pathformer.links.evidence._base import Evidence, find
from pathformer.links.evidence.counts import Counts
from pathformer.links.evidence.embedding import Embedding
from pathformer.links.evidence.linear import Linear

RELATION = 2


def random_embedding(graph: Graph) -> Embedding:
    draw = np.random.default_rng(0)
    return Embedding(*(draw.normal(size=(n, 8)).astype(np.float32) for n in (graph.entities, graph.relations)))


MAKE: dict[str, Callable[[Graph], Evidence]] = {"counts": Counts, "embedding": random_embedding, "linear": Linear.of}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return random_graph().graph()


@pytest.fixture(scope="module", params=plugins.names("evidence"))
def source(request: pytest.FixtureRequest, graph: Graph) -> Evidence:
    return MAKE[request.param](graph)


@pytest.fixture(scope="module")
def rows(source: Evidence, graph: Graph) -> np.ndarray:
    found = np.array(source.rows(np.arange(graph.entities), RELATION))
    assert found.shape == (graph.entities, graph.entities)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0
    return found


def test_a_source_is_called_like_its_file(source: Evidence) -> None:
    assert find(source.name) is type(source)


def test_a_batch_is_as_one_by_one(source: Evidence, rows: np.ndarray) -> None:
    for head in (0, 7, 149):
        np.testing.assert_allclose(source.rows(np.array([head]), RELATION)[0], rows[head], rtol=1e-5, atol=1e-6)
    some = np.array([9, 3, 9])  # in any order, and twice
    np.testing.assert_allclose(source.rows(some, RELATION), rows[some], rtol=1e-5, atol=1e-6)


def test_scores_are_those_of_the_row(source: Evidence, rows: np.ndarray) -> None:
    tails = np.array([5, 149, 0])
    np.testing.assert_allclose(source.scores(3, RELATION, tails), rows[3, tails], rtol=1e-5, atol=1e-6)


def test_what_is_opened_says_what_was_saved(source: Evidence, rows: np.ndarray, graph: Graph, tmp_path: Path) -> None:
    source.save(tmp_path)
    opened = type(source).open(tmp_path, graph, None)
    np.testing.assert_array_equal(opened.rows(np.arange(graph.entities), RELATION), rows)


def test_on_the_same_graph_it_says_the_same(source: Evidence, rows: np.ndarray, graph: Graph) -> None:
    np.testing.assert_array_equal(source.on(graph).rows(np.arange(graph.entities), RELATION), rows)


def test_new_entities_and_relations_have_scores(source: Evidence, graph: Graph) -> None:
    new = [[graph.entities, graph.relations, 0], [1, RELATION, graph.entities]]
    larger = Graph.from_triples(np.concatenate([graph.triples(), new]), graph.entities + 1, graph.relations + 2)
    moved = source.on(larger)
    for relation in (RELATION, graph.relations, graph.relations + 1):
        found = moved.rows(np.array([0, graph.entities]), relation)
        assert found.shape == (2, graph.entities + 1)
        assert np.isfinite(found).all()


def test_pieces_rest_on_facts_and_the_strongest_come_first(source: Evidence, graph: Graph) -> None:
    names = random_graph().vocabulary
    link = (1, RELATION, 2)
    pieces = source.pieces(*link, most=5)
    assert len(pieces) <= 5
    assert [piece.part for piece in pieces] == sorted((piece.part for piece in pieces), reverse=True)
    assert all(graph.has(*fact) for piece in pieces for fact in piece.facts)
    assert all(piece.source == source.name and source.say(piece, link, names) for piece in pieces)


def test_counts_are_the_facts_of_a_tail_whatever_the_head_is(graph: Graph) -> None:
    slow = [len(graph.tails_of(tail, RELATION ^ 1)) for tail in range(graph.entities)]
    assert np.expm1(Counts(graph).rows(np.array([0, 3]), RELATION)) == pytest.approx(np.array([slow, slow]), rel=1e-5)


def test_the_score_of_embeddings_is_that_of_complex_numbers(graph: Graph) -> None:
    """Re sum_i h_i r_i conj(t_i)."""
    source = random_embedding(graph)
    e, r = (table[:, :4] + 1j * table[:, 4:] for table in (source.entities, source.relations))
    slow = [[sum(e[h] * r[RELATION] * e[t].conj()).real for t in range(graph.entities)] for h in (0, 3)]
    np.testing.assert_allclose(source.rows(np.array([0, 3]), RELATION), slow, rtol=1e-4, atol=1e-4)


def test_a_new_entity_is_as_the_mean_one_and_a_new_relation_says_nothing(graph: Graph) -> None:
    source = random_embedding(graph)
    larger = Graph.from_triples(graph.triples(), graph.entities + 2, graph.relations + 2)
    moved, some = source.on(larger), np.arange(graph.entities)
    found = moved.rows(some, RELATION)
    np.testing.assert_allclose(found[:, : graph.entities], source.rows(some, RELATION), rtol=1e-4, atol=1e-5)
    for new in range(graph.entities, graph.entities + 2):
        np.testing.assert_allclose(found[:, new], found[:, : graph.entities].mean(axis=1), rtol=1e-4, atol=1e-5)
    assert not moved.rows(some, graph.relations + 1).any()
