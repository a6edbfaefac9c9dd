"""Questions that make no sense of the graph: doubted, and by name; sensible ones never."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.curve import Curve
from pathformer.engine.engine import Engine
from pathformer.index._base import build as build_index
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.schema import Kinds, say_stray, say_unheard
from pathformer.kg.vocabulary import Vocabulary
from pathformer.models._base import build
from pathformer.query.compile.parts import contradicts_itself
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.symbolic.answer import answer

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
def test_company_is_what_a_loop_over_all_entities_finds(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    kinds = Kinds(graph)
    for relation in range(RELATIONS):
        held = [relations_of(graph, e) for e in range(ENTITIES)]
        naive = set().union(*(own for own in held if relation in own))
        assert set(np.flatnonzero(kinds.company(relation)).tolist()) == naive
        assert kinds.company(relation) is kinds.company(relation)  # kept
        for entity, own in enumerate(held):
            strange = kinds.stray(Projection(relation, Anchor(entity))) is not None
            assert strange is (not own & naive)
            assert kinds.fits(entity, Projection(relation ^ 1, Anchor(0))) is bool(own & naive)


@given(TRIPLES)
def test_ends_are_what_a_loop_over_all_entities_finds(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    kinds = Kinds(graph)

    def naive(relation: int) -> float:
        several = [n for e in range(ENTITIES) if (n := len(graph.tails_of(e, relation)))]
        return float(np.log(np.mean(several))) if several else 0.0

    for relation in range(RELATIONS):
        assert kinds.ends(Projection(relation, Projection(0, Anchor(1)))) == pytest.approx(naive(relation))
    two = tuple(Projection(relation, Anchor(relation)) for relation in (0, 3))
    denied = Negation(Projection(4, Anchor(0)))
    assert kinds.ends(Intersection((*two, denied))) == pytest.approx(min(naive(0), naive(3)))
    assert kinds.ends(Union(two)) == pytest.approx(max(naive(0), naive(3)))
    assert kinds.ends(denied) == kinds.ends(Intersection((denied,))) == kinds.ends(Anchor(0)) == 0.0


@given(TRIPLES)
def test_however_many_relations_are_asked_for_they_are_the_same(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    plain = Kinds(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pathformer.kg.schema._SCANNED", 1)  # the others come from a sorted list
        patch.setattr("pathformer.kg.schema._KEPT", 2)
        many = Kinds(graph)
        for relation in [*range(RELATIONS), *range(RELATIONS)]:
            assert many.starts(relation).tolist() == plain.starts(relation).tolist()
            assert many.company(relation).tolist() == plain.company(relation).tolist()
            assert plain.starts(relation).tolist() == [e for e in range(ENTITIES) if relation in relations_of(graph, e)]


def test_what_is_kept_may_be_thrown_away_while_another_thread_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathformer.kg.schema._KEPT", 1)
    graph = graph_of([(0, 0, 1), (1, 2, 2)])
    kinds = Kinds(graph)

    class Emptied(dict[int, np.ndarray]):
        """As if another thread cleared it whenever a thing was looked for or put in."""

        def __contains__(self, key: object) -> bool:
            found = super().__contains__(key)
            self.clear()
            return found

        def __setitem__(self, key: int, value: np.ndarray) -> None:
            self.clear()

    kinds._companies = Emptied({0: Kinds(graph).company(0)})
    for relation in (0, 2, 0):
        assert kinds.company(relation).tolist() == Kinds(graph).company(relation).tolist()


@given(TRIPLES, st.lists(st.integers(0, RELATIONS - 1), min_size=1, max_size=3), st.integers(0, ENTITIES - 1))
def test_what_the_graph_has_is_never_doubted(triples: list[tuple[int, int, int]], chain: list[int], start: int) -> None:
    graph = graph_of(triples)
    kinds = Kinds(graph)
    tree: Tree = Anchor(start)
    for relation in chain:
        tree = Projection(relation, tree)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pathformer.kg.schema._SEVERAL", 1)
        for entity in answer(tree, graph).tolist():
            assert kinds.stray(tree) is None
            assert kinds.unheard(tree) is None
            assert kinds.fits(entity, tree)


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pathformer.kg.schema._SEVERAL", several)
        assert Kinds(graph).alike(entity, relation) == (len(alike), sum(relation in held[e] for e in alike))


@given(TRIPLES)
def test_the_share_of_those_that_a_relation_enters_and_leaves(triples: list[tuple[int, int, int]]) -> None:
    graph = graph_of(triples)
    held = [relations_of(graph, e) for e in range(ENTITIES)]
    for relation in range(RELATIONS):
        both = [relation in own for own in held if relation ^ 1 in own]
        assert Kinds(graph).turning(relation) == (sum(both) / len(both) if both else 0)


@given(TRIPLES, st.integers(0, 3))
def test_what_leads_from_nothing_to_itself(triples: list[tuple[int, int, int]], several: int) -> None:
    graph = graph_of(triples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pathformer.kg.schema._SEVERAL", several)
        kinds = Kinds(graph)
        for relation in [*range(RELATIONS), *range(RELATIONS)]:
            leaving, entered = (
                [e for e in range(ENTITIES) if way in relations_of(graph, e)] for way in (relation, relation ^ 1)
            )
            itself = any(graph.has(e, relation, e) for e in leaving)
            assert kinds.leads_back(relation) is (itself or max(len(leaving), len(entered)) < several)


@pytest.fixture(scope="module")
def world() -> Engine:
    """Twelve countries in a ring, each with a city, half of the cities capitals; all in one time zone; untrained."""
    triples = [(f"land {n}", "borders", f"land {(n + 1) % 12}") for n in range(12)]
    triples += [(f"city {n}", "in", f"land {n}") for n in range(12)]
    triples += [(f"city {n}", "capital_of", f"land {n}") for n in range(6)]
    return untrained(triples + [(f"{kind} {n}", "has_zone", "UTC") for kind in ("land", "city") for n in range(12)])


def untrained(triples: list[tuple[str, str, str]]) -> Engine:
    kg = KnowledgeGraph.from_triples(triples)
    torch.manual_seed(0)
    counts = {"entities": kg.vocabulary.entity_count, "relations": kg.vocabulary.relation_count}
    model = build("pathformer", {"dim": 8, "layers": 1, "heads": 2}, **counts)
    calibration = Calibration({"all": replace(Curve.none(), predictions=100)})
    return Engine(kg, model, build_index("exact", model.entities.weight.detach(), model.space), calibration)


@pytest.mark.parametrize(
    ("question", "itself"),
    [
        ("?x : borders(land 0, ?x)", True),
        ("?x : borders(?x, land 0)", True),
        ("?x : borders(land 0, ?x) & in(city 3, ?x)", True),
        ("?x : borders(land 0, ?x) | borders(land 1, ?x)", False),
        ("?x : borders(land 0, ?y) & borders(?y, ?x)", False),
        ("?x : borders(land 1, ?x) & !borders(land 0, ?x)", False),
    ],
)
def test_nothing_is_predicted_in_a_relation_to_itself_that_nothing_has_to_itself(
    world: Engine, question: str, itself: bool
) -> None:
    asked = question.replace("land 0", '"land 0"').replace("land 1", '"land 1"').replace("city 3", '"city 3"')
    answers = world.ask(asked, top=25, why=False)
    assert ("land 0" in {a.entity for a in answers.predicted}) is not itself
    assert ("land 0" in {a.entity for a in answers.hidden}) is itself
    shown = next(a for a in world.ask(asked, top=25, why=False, any_kind=True) if a.entity == "land 0")
    assert shown.calibrated is not itself


def to_itself(engine: Engine, question: str) -> set[str]:
    """Predicted answers whose reason assumes a link from something to itself."""
    answers = engine.ask(question, top=25, any_kind=True)
    return {a.entity for a in answers.predicted if a.reason and any(e.subject == e.object for e in a.reason.assumed)}


def test_no_reason_assumes_a_link_to_itself_that_nothing_has_where_there_is_another() -> None:
    """Of a union it was the disjunct that the model puts nearest; of two hops the answer stood for the variable."""
    lands = [(f"land {n}", "borders", f"land {(n + 1) % 12}") for n in range(12)]
    ring, looped = untrained(lands), untrained([*lands, ("land 5", "borders", "land 5")])
    union = '?x : borders("land 0", ?x) | borders("land 3", ?x)'
    hops = '?x : borders("land 0", ?y) & borders(?y, ?x)'
    assert not to_itself(ring, union) | to_itself(ring, hops)
    assert to_itself(looped, union) | to_itself(looped, hops)
    assert to_itself(ring, '?x : borders("land 0", ?x)') == {"land 0"}  # there is no other


def test_of_few_wholes_none_is_predicted_to_be_a_part_of_itself() -> None:
    """Twelve teams in two divisions of a firm: what the teams tell of `part_of` holds for the divisions, too."""
    triples = [(f"team {n}", "part_of", f"division {n % 2}") for n in range(12)]
    triples += [(f"division {n}", "part_of", "firm") for n in range(2)]
    engine = untrained(triples)
    for question in ('?x : part_of(?x, "division 0")', '?x : part_of("division 0", ?x)'):
        answers = engine.ask(question, top=15, why=False)
        assert "division 0" in {a.entity for a in answers.hidden}
        assert "division 0" not in {a.entity for a in answers.predicted}
        assert "division 1" in {a.entity for a in answers.predicted}
    few = untrained([*triples[:7], *triples[12:]])
    assert "division 0" in {a.entity for a in few.ask('?x : part_of(?x, "division 0")', top=15, why=False).predicted}


@pytest.mark.parametrize(
    ("question", "doubt", "note"),
    [
        (
            '?x : capital_of("land 0", ?x)',
            "nothing like land 0 is the subject of `capital_of`",
            'the 11 entities like it. The other direction has 1 answer: did you mean capital_of(?x, "land 0")?',
        ),
        (
            '?x : capital_of(?x, "city 7")',
            "nothing like city 7 is the object of `capital_of`",
            "city 7 is never the object of `capital_of`, and neither are the 11 entities like it.",
        ),
        (
            '?x : capital_of("city 7", ?x)',
            "",
            "city 7 is never the subject of `capital_of`, but 6 of the 11 entities like it are. These probabilities",
        ),
        ('?x : has_zone(?x, UTC) & !capital_of("land 0", ?x)', "", ""),
        ('?x : capital_of("city 1", ?x)', "", ""),
    ],
)
def test_a_link_that_nothing_like_it_has_is_doubted(world: Engine, question: str, doubt: str, note: str) -> None:
    answers = world.ask(question, top=3, why=False)
    assert doubt in answers.doubt
    assert bool(doubt) is bool(answers.doubt)
    assert note in answers.note
    assert all(a.calibrated is not bool(doubt) for a in answers.predicted)


@pytest.fixture(scope="module")
def measured(engine: Engine) -> Engine:
    """The same engine, as if its probabilities had been measured."""
    return Engine(engine.kg, engine.model, engine.index, Calibration({"all": replace(Curve.none(), predictions=100)}))


@pytest.mark.parametrize(
    ("question", "doubt"),
    [
        ("?x : won(Fellini, ?x)", "`won` never starts from anything like Fellini"),
        ("?x : won(?x, Fellini)", "`won` never ends in anything like Fellini"),
        ("?x : directed(Fellini, ?x) & !won(Quinn, ?x)", "`won` never starts from anything like Quinn"),
        ("?x : directed(Fellini, ?x) | won(Quinn, ?x)", "`won` never starts from anything like Quinn"),
        (
            "?x : directed(Fellini, ?f) & directed(?f, ?x)",
            "`directed` never starts from anything like what `directed` ends in",
        ),
        (
            "?x : directed(?d, Amarcord) & won(?d, ?x)",
            "`won` never starts from anything like what `directed` starts from",
        ),
        ("?x : won(Amarcord, ?x)", ""),  # a film that won nothing: such ones did
        ("?x : born_in(Quinn, ?x)", ""),
        ("?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)", ""),
        ("?x : stars(La_Strada, ?x) | stars(Leopard, ?x)", ""),
    ],
)
def test_links_from_another_kind_of_thing(measured: Engine, question: str, doubt: str) -> None:
    answers = measured.ask(question, top=3, why=False)
    assert doubt in answers.doubt
    assert answers.calibrated is (not doubt)
    assert answers.to_dict()["calibrated"] is (not doubt)
    if doubt:
        assert not any(a.calibrated for a in answers.predicted)
    assert all(a.calibrated for a in answers.known)


def test_an_engine_that_measured_nothing_says_so_first(engine: Engine) -> None:
    answers = engine.ask("?x : won(Fellini, ?x)", top=2)
    assert "defaults by rank" in answers.doubt
    assert not any(a.calibrated for a in answers.predicted)


@pytest.mark.parametrize(
    "question",
    [
        "?x : directed(Fellini, ?x) & !directed(Fellini, ?x)",
        "?x : stars(?f, ?x) & directed(Fellini, ?f) & !directed(Fellini, ?f)",
        "?x : (stars(8½, ?x) & !stars(8½, ?x)) | (won(8½, ?x) & !won(8½, ?x))",
        "?x : stars(8½, ?x) & !(stars(8½, ?x) | stars(West, ?x))",
    ],
)
def test_a_contradiction_has_no_answer(engine: Engine, question: str) -> None:
    answers = engine.ask(question)
    assert len(answers) == 0
    assert "contradicts itself" in answers.note


def test_what_is_no_contradiction_is_answered(engine: Engine) -> None:
    for question in (
        "?x : directed(Fellini, ?x) & !directed(Leone, ?x)",
        "?x : (stars(8½, ?x) & !stars(8½, ?x)) | stars(West, ?x)",
    ):
        answers = engine.ask(question, top=2, any_kind=True)
        assert len(answers.predicted) == 2
        assert "contradicts" not in answers.note


LEAVES = st.builds(Projection, st.integers(0, RELATIONS - 1), st.builds(Anchor, st.integers(0, 1)))


def _grow(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    several = st.lists(st.one_of(inner, st.builds(Negation, inner)), min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Projection, st.integers(0, 1), inner), st.builds(Intersection, several), st.builds(Union, several)
    )


@settings(max_examples=150)
@given(st.recursive(LEAVES, _grow, max_leaves=6), TRIPLES)
def test_a_contradiction_is_empty_on_every_graph(tree: Tree, triples: list[tuple[int, int, int]]) -> None:
    if contradicts_itself(tree):
        assert not len(answer(tree, graph_of(triples)))


def test_a_negated_conjunction_of_what_is_asked_for() -> None:
    a, b, c = (Projection(0, Anchor(e)) for e in range(3))
    assert contradicts_itself(Intersection((a, b, c, Negation(Intersection((b, a))))))
    assert not contradicts_itself(Intersection((a, c, Negation(Intersection((b, a))))))
    assert not contradicts_itself(Intersection((a, b)))


def test_what_is_strange_is_told_in_names_that_say_which_one_is_meant() -> None:
    vocabulary = Vocabulary.of(["p1", "p2", "p3"], ["http://x.org/knows", "http://x.org/likes"], ["Ann", "Ann", "Bea"])
    link, other = (0, Anchor(0)), (3, Anchor(2))
    assert say_stray(link, vocabulary) == "In this graph `knows` never starts from anything like p1."
    assert say_unheard(link, vocabulary) == "In this graph nothing like p1 is the subject of `knows`."
    assert say_unheard(other, vocabulary) == "nothing like Bea is the object of likes"
