"""Candidates of a single link, and an engine that has nothing but evidence for links."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.engines import FILMS
from support.link_engines import link_engine, link_scorer

import pathformer as pf
from pathformer.engine.find.finders import Finders
from pathformer.engine.find.single_links import find_link, is_link
from pathformer.errors import EngineError
from pathformer.kg.graph import Graph
from pathformer.kg.schema import RelationSchema
from pathformer.links.scorer import LinkScorer
from pathformer.query.structures import STRUCTURES
from pathformer.query.tree import Anchor, Negation, Projection


@pytest.fixture(scope="module")
def links() -> LinkScorer:
    return link_scorer()


def test_only_a_projection_of_an_anchor_is_a_link() -> None:
    link = Projection(3, Anchor(1))
    assert is_link(link)
    assert not any(is_link(tree) for tree in (Negation(link), Projection(2, link), Anchor(1)))
    assert [name for name in STRUCTURES if is_link(STRUCTURES[name].tree([0] * len(STRUCTURES[name].columns)))] == [
        "1p"
    ]


@pytest.mark.parametrize("top", [0, 5, 1000])
@pytest.mark.parametrize("relation", [2, 3])
def test_known_tails_come_first_then_the_best_others(links: LinkScorer, relation: int, top: int) -> None:
    """On a graph of fewer facts than the scorer's: what only the scorer's graph states is predicted like the rest."""
    triples = links.graph.triples()
    less = Graph.from_triples(triples[::2], links.graph.entities, links.graph.relations)
    schema = RelationSchema(less)
    for head in range(0, 150, 15):
        known = less.tails_of(head, relation).tolist()
        found = find_link(Projection(relation, Anchor(head)), schema, links, top)
        assert found.known.tolist() == [n < len(known) for n in range(len(found))]
        assert sorted(found.entities[found.known].tolist()) == known
        row = links.shares(np.array([head]), relation, [np.array(known, np.int64)])[0]
        others = found.entities[found.predicted]
        assert row[others].tolist() == np.sort(row)[::-1][: min(top, 150 - len(known))].tolist()
        assert len(set(others.tolist()) - set(known)) == len(others) == min(top, 150 - len(known))
        assert found.distances == pytest.approx(np.concatenate([np.zeros(len(known)), -row[others]]))
        assert (np.diff(found.distances) >= 0).all()
        assert found.probabilities is not None
        assert (found.probabilities[: len(known)] == 1).all()
        best = links.predict(head, relation, top, np.array(known, np.int64))
        np.testing.assert_array_equal(found.probabilities[len(known) :], best.probabilities)


def test_a_table_is_made_once_for_a_graph(links: LinkScorer) -> None:
    finders, graph = Finders(links=links), links.graph
    first = finders.table(graph)
    assert first is not None
    assert finders.table(graph) is first
    assert not first.is_sparse  # a small graph is searched whole
    other = Graph.from_triples(graph.triples()[:50], graph.entities, graph.relations)
    second = finders.table(other)
    assert second is not None
    assert second.facts is other
    assert Finders().table(graph) is None


def test_an_index_needs_an_encoder() -> None:
    with pytest.raises(EngineError, match="encoder and an index go together"):
        Finders(index=object())  # type: ignore[arg-type]


QUESTIONS = [
    "?x : r1(e1, ?x)",
    "?x : r1(?x, e1)",
    "?x : r1(e1, ?y) & r2(?y, ?x)",
    "?x : r1(e1, ?x) & r2(e2, ?x)",
    "?x : r1(e1, ?x) | r2(e2, ?x)",
    "?x : r1(e1, ?y) & r2(?y, ?x) & !r3(e4, ?x)",
]


@pytest.fixture(scope="module")
def engine() -> pf.Engine:
    return link_engine()


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_engine_of_links_alone_answers_with_reasons(engine: pf.Engine, question: str) -> None:
    answers, kg = engine.ask(question, top=6, any_kind=True), engine.kg
    names, graph = kg.vocabulary, kg.graph()
    assert len(answers.predicted) == 6
    assert [a.entity for a in answers.known] == [a.entity for a in engine.ask(question, known=True, why=False)]
    assert all(a.probability == 1 for a in answers.known)
    told = 0
    for answer in answers.predicted:
        assert answer.reason is not None
        assert answer.reason.evidence is not None
        assert answer.reason.assumed
        told += len(answer.reason.evidence)
        for link in answer.reason.links:
            ends = [names.entity_id(end.name) for end in (link.subject, link.object)]
            assert graph.has(ends[0], names.relation_id(link.relation.name), ends[1]) == link.stated
        stated = {str(fact) for piece in answer.reason.evidence for fact in piece.facts}
        assert all(is_fact(kg, fact) for fact in stated)
    assert told


def is_fact(kg: pf.KnowledgeGraph, fact: str) -> bool:
    relation, _, ends = fact.rstrip(")").partition("(")
    head, tail = (kg.vocabulary.entity_id(end) for end in ends.split(", "))
    return kg.graph().has(head, kg.vocabulary.relation_id(relation), tail)


def test_the_reason_of_a_longer_question_gives_probabilities_of_what_it_assumes(engine: pf.Engine) -> None:
    links = engine.links
    assert links is not None
    names, seen = engine.kg.vocabulary, 0
    for answer in engine.ask(QUESTIONS[2], top=6, any_kind=True).predicted:
        assert answer.reason is not None
        assert set(answer.reason.bindings) == {"y"}
        for link in answer.reason.assumed:
            head, tail = names.entity_id(link.subject.name), names.entity_id(link.object.name)
            row = links.rows(np.array([head]), names.relation_id(link.relation.name))[0]
            assert link.probability == pytest.approx(float(row[tail]), rel=1e-4)
            seen += 1
    assert seen


def test_it_opens_to_the_same_answers(engine: pf.Engine, tmp_path: Path) -> None:
    opened = pf.load(engine.save(tmp_path / "random"))
    for known, found in zip(engine.ask(QUESTIONS), opened.ask(QUESTIONS), strict=True):
        assert found == known
        assert [a.reason for a in found] == [a.reason for a in known]
    assert repr(opened) == repr(engine)


def test_a_fact_that_is_refuted_is_not_predicted() -> None:
    engine = link_engine(pf.KnowledgeGraph.from_triples(FILMS))
    answers = engine.ask("?x : stars(La_Strada, ?x) & !stars(8½, ?x)", top=30, any_kind=True)
    assert {a.entity for a in answers.known} == {"Masina", "Quinn"}
    assert not {a.entity for a in answers} & {"Mastroianni", "Cardinale"}
    assert answers.predicted


def test_where_the_graph_states_every_tail_nothing_is_predicted() -> None:
    engine = link_engine(pf.KnowledgeGraph.from_triples([("a", "likes", "a"), ("a", "likes", "b")]))
    assert [(a.entity, a.probability) for a in engine.ask("?x : likes(a, ?x)", any_kind=True)] == [("a", 1), ("b", 1)]


def test_there_are_no_points_to_ask_for(engine: pf.Engine) -> None:
    with pytest.raises(EngineError, match="evidence for links and no path model"):
        _ = engine.encoder
