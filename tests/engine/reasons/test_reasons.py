"""Reasons: proofs that hold, guesses that are the cheapest, absences and empty branches in words."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from support.query_strategies import ENTITIES, RELATIONS, Edges, evaluate, graphs, trees

from pathformer.engine.engine import Engine
from pathformer.engine.find.exact_sets import ExactSets
from pathformer.engine.reasons.empty import why_empty
from pathformer.engine.reasons.guess import Guesser
from pathformer.engine.reasons.proof import Reason, Step, in_names, prove
from pathformer.index._base import Index, build_for
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.models._base import build
from pathformer.models._encoder import TorchEncoder
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union


def index(edges: Edges) -> Graph:
    return Graph.from_triples(np.array(sorted(edges), np.int32).reshape(-1, 3), ENTITIES, RELATIONS)


def holds(tree: Tree, entity: int, place: tuple[int, ...], reason: Reason, edges: set[tuple[int, int, int]]) -> bool:
    """Whether a binding, with these edges and these absences, makes an entity an answer; by the definitions."""
    match tree:
        case Anchor(anchor):
            return entity == anchor
        case Projection(relation, of):
            below = (*place, 0)
            source = of.entity if isinstance(of, Anchor) else reason.bindings.get(below)
            return (
                source is not None and (source, relation, entity) in edges and holds(of, source, below, reason, edges)
            )
        case Negation(of):
            return (of, entity) in reason.absent
        case Intersection(branches):
            return all(holds(b, entity, (*place, n), reason, edges) for n, b in enumerate(branches))
        case Union(branches):
            return any(holds(b, entity, (*place, n), reason, edges) for n, b in enumerate(branches))


@given(trees(), graphs())
@settings(max_examples=300)
def test_a_proof_proves(tree: Tree, edges: Edges) -> None:
    sets = ExactSets(index(edges))
    for entity in evaluate(tree, edges):
        reason = prove(tree, entity, sets)
        used = {(step.head, step.relation, step.tail) for step in reason.steps}
        assert used <= edges
        assert all(step.rank is None for step in reason.steps)
        assert all(denied not in evaluate(part, edges) for part, denied in reason.absent)
        assert holds(tree, entity, (), reason, used)


def cost(reason: Reason) -> float:
    return float(sum(np.log1p(step.rank or 0) for step in reason.steps))


def shapes(engine: Engine) -> list[Tree]:
    name = engine.kg.vocabulary
    fellini, oscar = Anchor(name.entity_id("Fellini")), Anchor(name.entity_id("Oscar"))
    directed, won, stars = (name.relation_id(r) for r in ("directed", "won", "stars"))
    films = Projection(directed, fellini)
    plain = Intersection((films, Negation(Projection(won ^ 1, oscar))))
    return [
        films,
        Projection(stars, films),
        Projection(stars, plain),
        Projection(stars, Union((films, Projection(won ^ 1, oscar)))),
        Intersection((Projection(stars, films), Projection(stars, Projection(won ^ 1, oscar)))),
        Projection(won, Projection(stars ^ 1, Projection(stars, films))),
    ]


@pytest.mark.parametrize("number", range(6))
def test_a_guess_is_the_cheapest_binding(engine: Engine, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The naive twin: every binding of every variable, each edge looked up or ranked among all entities."""
    monkeypatch.setattr(
        "pathformer.engine.reasons.guess._NEAR", 100
    )  # the graph is small: every entity is in every pool
    monkeypatch.setattr("pathformer.engine.reasons.guess._POOL", 100)
    tree, graph, sets = shapes(engine)[number], engine.kg.graph(), ExactSets(engine.kg.graph())
    known = set(sets.of(tree).tolist())
    wanted = [entity for entity in range(graph.entities) if entity not in known][:5]
    ranks: dict[tuple[int, int], np.ndarray] = {}

    def rank(head: int, relation: int, tail: int) -> int:
        if (tail, relation) not in ranks:
            point = engine.encoder.points([Projection(relation ^ 1, Anchor(tail))]).rows[0]
            ranks[tail, relation] = engine.encoder.distances(point[None])[0]
        near = ranks[tail, relation]
        return 0 if graph.has(head, relation, tail) else 1 + int((near < near[head]).sum())

    def cheapest(tree: Tree, entity: int) -> float:
        match tree:
            case Projection(relation, Anchor(head)):
                return float(np.log1p(rank(head, relation, entity)))
            case Projection(relation, of):
                heads = range(graph.entities)
                return min(cheapest(of, head) + float(np.log1p(rank(head, relation, entity))) for head in heads)
            case Negation(of):
                return 1e6 if entity in sets.of(of) else 0.0
            case Intersection(branches):
                return sum(cheapest(branch, entity) for branch in branches)
            case Union(branches):
                return min(cheapest(branch, entity) for branch in branches)
        raise AssertionError(tree)

    reasons = Guesser(engine.encoder, engine.index, sets).explain(tree, np.array(wanted))
    for entity, reason in zip(wanted, reasons, strict=True):
        edges = {(s.head, s.relation, s.tail) for s in reason.steps}
        assert holds(tree, entity, (), reason, edges)
        assert all((s.rank is None) == graph.has(s.head, s.relation, s.tail) for s in reason.steps)
        assert any(s.rank is not None for s in reason.steps)
        assert cost(reason) == pytest.approx(cheapest(tree, entity), abs=0.02)


def test_ranks_of_a_large_graph_come_from_a_sample(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathformer.engine.reasons.guess._SAMPLE", 6)
    tree = shapes(engine)[0]
    reasons = Guesser(engine.encoder, engine.index, ExactSets(engine.kg.graph())).explain(tree, np.arange(18))
    ranks = {step.rank for reason in reasons for step in reason.steps} - {None}
    assert ranks <= {1 + nearer * 18 // 6 for nearer in range(7)}


def test_a_random_binding_is_an_explanation_too(engine: Engine) -> None:
    tree = shapes(engine)[1]
    guesser = Guesser(engine.encoder, engine.index, ExactSets(engine.kg.graph()), np.random.default_rng(0))
    bound = {reason.bindings[(0,)] for _ in range(200) for reason in guesser.explain(tree, np.array([0]))}
    assert bound == set(range(18))


def test_reasons_read_as_sentences(engine: Engine) -> None:
    answers = engine.ask("?x : directed(Fellini, ?film) & !won(?film, Oscar) & stars(?film, ?x)", top=1)
    noel = next(a for a in answers if a.entity == "Noël")
    assert str(noel.reason) == (
        "?film = Amarcord; directed(Fellini, Amarcord) & stars(Amarcord, Noël); nothing says won(Amarcord, Oscar)"
    )
    assert noel.reason.to_dict()["bindings"] == {"film": {"entity": "Amarcord", "label": "Amarcord"}}
    guessed = answers.predicted[0].reason
    assert guessed.assumed
    assert "; assuming " in f"; {guessed}"
    assert all(edge.rank is not None and edge.rank >= 1 for edge in guessed.assumed)


@pytest.fixture(scope="module")
def guesser_parts() -> tuple[TorchEncoder, Index]:
    """A model that was never trained, for the small graphs that are drawn."""
    torch.manual_seed(0)
    model = build("pathformer", {"dim": 16, "layers": 1, "heads": 2}, entities=ENTITIES, relations=RELATIONS).eval()
    encoder = TorchEncoder(model)
    return encoder, build_for(encoder)


@given(trees(), graphs())
@settings(max_examples=100)
def test_a_guess_says_of_nothing_that_the_graph_has_that_nothing_says_it(
    guesser_parts: tuple[TorchEncoder, Index], tree: Tree, edges: Edges
) -> None:
    tree = Intersection((tree, Projection(0, Anchor(0))))  # a negation alone cannot be encoded
    sets = ExactSets(index(edges))
    others = np.array(sorted(set(range(ENTITIES)) - evaluate(tree, edges)), np.int64)
    for reason in Guesser(*guesser_parts, sets).explain(tree, others) if len(others) else ():
        assert all(denied not in evaluate(part, edges) for part, denied in reason.absent)
        assert all(denied in evaluate(part, edges) for part, denied in reason.contrary)


def test_what_the_graph_has_for_want_of_facts_is_assumed_to_end(engine: Engine) -> None:
    question = "?x : stars(?f, ?x) & directed(Leone, ?f) & !(stars(?g, ?x) & !won(?g, Oscar))"
    cardinale = next(a for a in engine.ask(question, top=18, any_kind=True) if a.entity == "Cardinale")
    assert not cardinale.known
    ends = "stars(?g, Cardinale) & !won(?g, Oscar)"
    assert sorted(cardinale.reason.contrary[0].split(" & ")) == sorted(ends.split(" & "))
    assert str(cardinale.reason).endswith(f"; assuming that more facts would end {cardinale.reason.contrary[0]}")
    assert cardinale.reason.to_dict()["contrary"] == list(cardinale.reason.contrary)
    assert "nothing says" not in str(cardinale.reason)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("?x : won(Fellini, ?x)", "nothing for won(Fellini, ?x): Fellini is never the subject of `won`"),
        ("?x : directed(?x, Oscar)", "nothing for directed(?x, Oscar): Oscar is never the object of `directed`"),
        (
            "?x : stars(Leopard, ?p) & born_in(?p, ?x)",
            "none of the 2 entities in stars(Leopard, ?p) is the subject of `born_in`",
        ),
        (
            "?x : stars(Amarcord, ?p) & born_in(?p, ?x)",
            "the only entity in stars(Amarcord, ?p) is never the subject of `born_in`",
        ),
        (
            "?x : stars(Amarcord, ?x) & stars(West, ?x)",
            "no entity is in all of stars(Amarcord, ?x) (1), stars(West, ?x) (1)",
        ),
        (
            "?f : won(?f, Palme) & !stars(?f, Cardinale)",
            "!stars(?f, Cardinale) removes everything from won(?f, Palme) (1)",
        ),
        (
            "?x : won(Fellini, ?x) | won(Leone, ?x)",
            "Fellini is never the subject of `won`. The graph states nothing for won(Leone, ?x): Leone is",
        ),
        (
            "?x : directed(Fellini, ?f) & won(?f, Palme) & stars(?f, ?x)",
            "no entity is in all of directed(Fellini, ?f) (4)",
        ),
    ],
)
def test_an_empty_result_names_the_empty_branch(engine: Engine, question: str, reason: str) -> None:
    answers = engine.ask(question, known=True)
    assert len(answers) == 0
    assert reason in answers.note


@given(trees(), graphs())
def test_every_empty_result_has_a_reason(tree: Tree, edges: Edges) -> None:
    assume(not evaluate(tree, edges))
    vocabulary = Vocabulary.of([f"e{n}" for n in range(ENTITIES)], [f"r{n}" for n in range(RELATIONS // 2)])
    reason = why_empty(tree, ExactSets(index(edges)), vocabulary)
    assert any(reason.startswith(start) for start in ("The graph states nothing for ", "In the graph, "))
    assert "?" in reason


def test_every_binding_has_its_own_name() -> None:
    from pathformer.kg.vocabulary import Vocabulary

    hop = Projection(0, Projection(0, Anchor(0), "v"), "x")
    said = in_names(
        Reason({(0, 0): 0, (1, 0): 1, (2, 0): 0}), Intersection((hop,) * 3), Vocabulary.of(["a", "b", "c"], ["r"])
    )
    assert {name: value.name for name, value in said.bindings.items()} == {"v": "a", "v'": "b"}


def test_an_edge_that_is_assumed_in_both_directions_is_told_once() -> None:
    from pathformer.kg.vocabulary import Vocabulary

    steps = (Step(0, 0, 1, 7), Step(1, 1, 0, 3), Step(0, 2, 1), Step(1, 0, 0, 2))
    said = in_names(Reason(steps=steps), Anchor(0), Vocabulary.of(["a", "b"], ["r", "s"]))
    assert str(said) == "s(a, b); assuming r(a, b) & r(b, a)"
    assert [edge.rank for edge in said.assumed] == [7, 2]


def test_two_of_one_label_are_told_apart(engine: Engine) -> None:
    """In formulas by their names, which a question finds each by; where a variable stands for one, beside the label."""
    labels = {"Masina": "Giulia", "Quinn": "Giulia", "La_Strada": "The Road", "Ginger": "The Road", "8½": "Eight"}
    relations = {"directed": "made", "won": "has", "stars": "has"}
    labelled = Engine(engine.kg.with_labels(labels, relations), engine.encoder, engine.index)
    asked = labelled.ask("?x : directed(Fellini, ?f) & stars(?f, ?x) & !won(?x, Masina)", top=0)
    told = {answer.entity: str(answer.reason) for answer in asked}
    assert told["Quinn"] == (
        "?f = The Road (La_Strada); made(Fellini, La_Strada) & stars(La_Strada, Quinn); nothing says won(Quinn, Masina)"
    )
    assert told["Cardinale"] == (
        "?f = Eight; made(Fellini, Eight) & stars(Eight, Cardinale); nothing says won(Cardinale, Masina)"
    )
    assert {answer.label for answer in asked if answer.entity in ("Masina", "Quinn")} == {"Giulia"}
    assert labelled.ask("?x : won(Masina, ?x)", top=0).note.startswith(
        "The graph states nothing for won(Masina, ?x): Masina is never the subject of `won`"
    )


def test_a_relation_of_rdf_is_called_by_the_end_of_its_iri(engine: Engine) -> None:
    kg = engine.kg
    iris = [f"http://films.example/{name}" for name in kg.vocabulary.relations]
    spelled = KnowledgeGraph(kg.name, Vocabulary.of(kg.vocabulary.entities, iris), kg.splits)
    asked = Engine(spelled, engine.encoder, engine.index).ask("?x : directed(Fellini, ?x) & !won(?x, Oscar)", top=0)
    told = {answer.entity: answer.reason for answer in asked}["Ginger"]
    assert told is not None
    assert str(told) == "directed(Fellini, Ginger); nothing says won(Ginger, Oscar)"
    assert told.to_dict()["links"][0]["relation"] == "http://films.example/directed"
