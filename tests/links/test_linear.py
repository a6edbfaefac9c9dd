"""The linear recommender against its closed form, written out on whole matrices."""

from __future__ import annotations

import numpy as np
import pytest
from support.engines import random_triples

import pathformer as pf
from pathformer.kg.graph import Graph
from pathformer.links.evidence._base import spell_fact
from pathformer.links.evidence.linear import Linear

RIDGE = 4.0  # small, so that what entities share weighs much
Fact = tuple[int, int, int]


def random_graph(entities: int = 40, relations: int = 3, drawn: int = 400, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    tails = rng.zipf(1.6, drawn) % entities  # some are shared by many
    columns = (rng.integers(0, entities, drawn), 2 * rng.integers(0, relations, drawn), tails)
    return Graph.from_triples(np.stack(columns, axis=1), entities, 2 * relations)


class Dense:
    """X of entities and (relation, tail), whole, and what follows from it."""

    def __init__(self, graph: Graph) -> None:
        n, self.count = graph.entities, graph.entities
        self.x = np.zeros((n, graph.relations * n))
        for head, relation, tail in graph.triples().tolist():
            self.x[head, relation * n + tail] = self.x[tail, (relation + 1) * n + head] = 1
        self.g = np.linalg.inv(self.x @ self.x.T + RIDGE * np.eye(n))
        self.members = self.x.sum(axis=0)
        self.s = -(self.g @ self.x) * (RIDGE + self.members)

    def score(self, head: int, relation: int, tail: int) -> float:
        column, other = relation * self.count + tail, (relation ^ 1) * self.count + head
        return float(self.s[head, column] + self.s[tail, other])

    def rows(self, heads: np.ndarray, relation: int) -> np.ndarray:
        return np.array([[self.score(head, relation, tail) for tail in range(self.count)] for head in heads.tolist()])

    def parts(self, head: int, relation: int, tail: int) -> dict[Fact, float]:
        """The part of each fact of both ends: (X^T G X)[j', j] (1 + m_j / lambda)."""
        found = {}
        for entity, towards, other in ((head, relation, tail), (tail, relation ^ 1, head)):
            column = towards * self.count + other
            among = self.x.T @ self.g @ self.x[:, column] * (1 + self.members[column] / RIDGE)
            for own in np.flatnonzero(self.x[entity]).tolist():
                found[entity, own // self.count, own % self.count] = float(among[own])
        return found


@pytest.fixture(scope="module")
def graph() -> Graph:
    return random_graph()


@pytest.fixture(scope="module")
def dense(graph: Graph) -> Dense:
    return Dense(graph)


@pytest.mark.parametrize("kept", [0, 1000], ids=["solved", "inverted"])
def test_rows_are_the_closed_form(graph: Graph, dense: Dense, kept: int) -> None:
    heads, linear = np.arange(graph.entities), Linear.of(graph, RIDGE, dense=kept)
    assert (linear.inverse is None) == (kept == 0)
    for relation in range(graph.relations):
        expected = dense.rows(heads, relation)
        assert np.abs(linear.rows(heads, relation) - expected).max() < 0.02 * np.abs(expected).max()


def test_more_entities_than_are_inverted_or_solved_at_once() -> None:
    """Half by half, one byte a number; and as many systems as entities."""
    graph = random_graph(entities=1100, drawn=4000)
    heads = np.arange(0, graph.entities, 10)  # with their known tails, three times as many as are solved together
    exact, rounded = (Linear.of(graph, RIDGE, dense=most).rows(heads, 3) for most in (0, 2000))
    slow = Dense(graph).rows(heads[:20], 3)
    assert np.abs(exact[:20] - slow).max() < 2e-3 * np.abs(slow).max()
    assert np.abs(rounded - exact).max() < 0.02 * np.abs(exact).max()


def test_pieces_are_what_the_score_is_made_of(graph: Graph, dense: Dense) -> None:
    linear, told = Linear.of(graph, RIDGE, dense=0), 0
    draw = np.random.default_rng(1)
    links = zip(*(draw.integers(0, most, 60).tolist() for most in (40, 6, 40)), strict=True)
    for link in (link for link in links if not graph.has(*link) and link[0] != link[2]):
        parts = dense.parts(*link)
        assert sum(parts.values()) == pytest.approx(dense.score(*link), abs=1e-6)  # nothing is left out
        pieces = linear.pieces(*link, most=10**6)
        found = {piece.facts[0]: piece.part for piece in pieces}
        assert len(found) == len(pieces)
        assert found == pytest.approx({fact: parts[fact] for fact in found}, abs=5e-3)
        assert list(found.values()) == sorted(found.values(), reverse=True)
        assert linear.pieces(*link, most=2) == pieces[:2]
        omitted = {fact: part for fact, part in parts.items() if fact not in found and part > 5e-3}
        assert not any(counts(graph, fact, link)[1] for fact in omitted)
        assert all(piece.detail == counts(graph, piece.facts[0], link) and piece.detail[1] for piece in pieces)
        told += len(pieces)
    assert told > 100


def counts(graph: Graph, fact: Fact, link: Fact) -> tuple[int, int]:
    """How many others have a fact of one end of a link, and how many of them have the link in its place."""
    entity, own, tail = fact
    head, relation, other = link if link[0] == entity else (link[2], link[1] ^ 1, link[0])
    assert head == entity
    others = [e for e in range(graph.entities) if e != entity and graph.has(e, own, tail)]
    return len(others), sum(graph.has(e, relation, other) for e in others)


def test_a_piece_is_said_as_it_was_counted() -> None:
    triples = [("a", "plays", "flute"), ("b", "plays", "flute"), ("c", "plays", "flute"), ("b", "in", "band")]
    for more, has in ((("d", "plays", "drum"), "1 of them has"), (("c", "in", "band"), "2 of them have")):
        kg = pf.KnowledgeGraph.from_triples([*triples, more])
        names, linear = kg.vocabulary, Linear.of(kg.graph(), RIDGE)
        link = (names.entity_id("a"), names.relation_id("in"), names.entity_id("band"))
        first = linear.pieces(*link)[0]
        assert linear.say(first, link, names) == f"plays(…, flute) is shared with 2 others, and {has} in(…, band)"


def test_a_piece_of_the_tail_speaks_of_the_tail() -> None:
    kg = pf.KnowledgeGraph.from_triples(random_triples())
    graph, names, linear = kg.graph(), kg.vocabulary, Linear.of(kg.graph(), RIDGE)
    absent = [(h, 2, t) for h in range(40) for t in range(40) if h != t and not graph.has(h, 2, t)]
    some = ((link, linear.pieces(*link, most=100)) for link in absent)
    link, pieces = next((link, told) for link, told in some if len({piece.facts[0][0] for piece in told}) == 2)
    for piece in pieces:
        others, right = counts(graph, piece.facts[0], link)
        end = piece.facts[0][0]
        said = linear.say(piece, link, names)
        assert said.startswith(f"{spell_fact(piece.facts[0], names, end)} is shared with {others} other")
        assert f"{right} of them" in said
        assert said.endswith(f" {spell_fact(link, names, end)}")


def test_on_a_changed_graph_it_is_a_fresh_one(graph: Graph) -> None:
    changed = random_graph(entities=45, relations=4, seed=9)
    moved, heads = Linear.of(graph, RIDGE).on(changed), np.arange(45)
    for relation in range(changed.relations):
        np.testing.assert_array_equal(moved.rows(heads, relation), Linear.of(changed, RIDGE).rows(heads, relation))
