"""What asking promises: known answers whole and first, predictions beyond them, one result however it is asked."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathformer.engine
from pathformer import plugins
from pathformer.engine.answer.read import read_question
from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.curve import Curve
from pathformer.engine.calibrate.features import FEATURES
from pathformer.engine.engine import Engine
from pathformer.errors import EngineError, InputError, UnknownNameError, UnsupportedQueryError
from pathformer.index._base import build_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.schema import RelationSchema
from pathformer.query.parse import parse
from pathformer.query.structures import STRUCTURES
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.symbolic.answer import answer
from pathformer.symbolic.impossible import impossible_answers
from pathformer.symbolic.plausible import log_mean_tails

FELLINI = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"


def names(answers):
    return [answer.entity for answer in answers]


def test_the_paper_s_question(engine: Engine) -> None:
    answers = engine.ask(FELLINI, top=4, any_kind=True)
    assert sorted(names(answers.known)) == ["Masina", "Mastroianni", "Noël"]
    assert [a.known for a in answers] == [True] * 3 + [False] * 4
    assert [a.rank for a in answers] == list(range(1, 8))
    assert {a.probability for a in answers.known} == {1.0}
    likely = [a.probability for a in answers.predicted]
    assert likely == sorted(likely, reverse=True)
    assert all(0 < p < 1 for p in likely)
    for part in (answers.known, answers.predicted):
        assert [a.score for a in part] == sorted((a.score for a in part), reverse=True)


@pytest.mark.parametrize(
    "question",
    [
        "SELECT ?x { :Fellini :directed ?f . ?f :stars ?x FILTER NOT EXISTS { ?f :won :Oscar } }",
        parse(FELLINI),
    ],
)
def test_every_syntax_gives_the_same(engine: Engine, question: object) -> None:
    assert [(a.entity, a.score) for a in engine.ask(question)] == [(a.entity, a.score) for a in engine.ask(FELLINI)]


def test_tuples_and_trees(engine: Engine) -> None:
    fellini, directed = engine.kg.vocabulary.entity_id("Fellini"), engine.kg.vocabulary.relation_id("directed")
    found = [
        names(engine.ask(question))
        for question in (
            (fellini, (directed,)),
            f"({fellini}, ({directed},))",
            Projection(directed, Anchor(fellini)),
            "?x : directed(Fellini, ?x)",
        )
    ]
    assert found[0] == found[1] == found[2] == found[3]
    assert engine.ask((fellini, (directed,))).question == "?x : directed(Fellini, ?x)"


def test_a_batch_is_its_questions_one_by_one(engine: Engine) -> None:
    questions = [
        FELLINI,
        "?x : directed(Fellini, ?x)",
        "?x : stars(La_Strada, ?x) | stars(Leopard, ?x)",
        "?x : directed(Visconti, ?x)",
        "?x : stars(?f, ?x) & directed(?d, ?f) & directed(?d, Amarcord)",
    ]
    together = engine.ask(questions, top=5)
    for question, answers in zip(questions, together, strict=True):
        alone = engine.ask(question, top=5)
        assert names(alone) == names(answers)
        assert [a.score for a in alone] == pytest.approx([a.score for a in answers], rel=1e-5)
        assert [a.reason for a in alone] == [a.reason for a in answers]
    assert engine.ask([]) == []


def test_a_large_batch_is_asked_in_parts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [f"?x : directed({name}, ?x)" for name in ("Fellini", "Leone", "Visconti")] * 3
    whole = engine.ask(questions)
    monkeypatch.setattr("pathformer.engine.answer.pipeline._TOGETHER", 2)
    assert [names(answers) for answers in engine.ask(questions)] == [names(answers) for answers in whole]


@pytest.mark.parametrize("top", [0, 1, 7, 1000])
def test_top_limits_the_predicted_ones_alone(engine: Engine, top: int) -> None:
    answers = engine.ask("?x : directed(Fellini, ?x)", top=top, why=False, any_kind=True)
    entities = engine.kg.vocabulary.entity_count
    assert len(answers.known) == 4
    assert len(answers.predicted) == min(top, entities - 4)
    assert len(set(names(answers))) == len(answers)


def test_only_known_only_predicted_and_the_likely(engine: Engine) -> None:
    everything = engine.ask(FELLINI, any_kind=True)
    assert names(engine.ask(FELLINI, known=True, any_kind=True)) == names(everything.known)
    predicted = engine.ask(FELLINI, known=False, any_kind=True)
    assert names(predicted) == names(everything.predicted)
    assert predicted[0].rank == 4  # the rank among all answers stays
    bound = everything[5].probability
    likely = everything.where(lambda answer: answer.probability >= bound)
    assert names(engine.ask(FELLINI, min_probability=bound, any_kind=True)) == names(likely)
    assert 6 <= len(likely) < len(everything)


@pytest.mark.parametrize("backend", plugins.names("indexes"))
def test_no_index_loses_a_known_answer(engine: Engine, backend: str) -> None:
    if backend == "hnsw":
        pytest.importorskip("faiss")
    index = build_for(engine.encoder, backend)
    other = Engine(engine.kg, engine.encoder, index)
    for question in (FELLINI, "?x : directed(Fellini, ?x)", "?x : stars(La_Strada, ?x) | stars(Leopard, ?x)"):
        found, exact = other.ask(question, top=5, any_kind=True), engine.ask(question, top=5)
        assert names(found.known) == names(exact.known)
        assert len(found.predicted) == 5


def test_an_index_that_finds_too_few_is_asked_for_more(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    search = engine.index.nearest

    def short_sighted(points, k, allowed=None):
        asked.append(k)
        found = search(points, k, allowed)
        found.ids[:, k // 4 :] = -1  # an approximate index that gives a quarter of what it is asked for
        return found

    monkeypatch.setattr("pathformer.engine.find.nearest._FIRST", 4)
    whole = engine.ask("?x : directed(Leone, ?x)", top=3, any_kind=True)
    monkeypatch.setattr(engine.index, "nearest", short_sighted)
    again = engine.ask("?x : directed(Leone, ?x)", top=3, why=False, any_kind=True)
    assert names(again) == names(whole)
    assert asked == [16, 18]  # four times three that are wanted, and the one that is known; then all


@pytest.mark.parametrize(
    ("setting", "value"), [("_FEW", 0), ("_FEW", 2), ("_LISTED", 1), ("_LISTED", 200), ("_FIRST", 1)]
)
def test_however_the_index_is_asked_the_answers_are_the_same(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, setting: str, value: int
) -> None:
    """Barred entities may be asked for and dropped, or hidden; lists may be made many at once, or one by one."""
    trees = engine_trees(engine)
    before = engine.candidates(trees, top=4)
    monkeypatch.setattr(f"pathformer.engine.find.nearest.{setting}", value)
    for one, other in zip(before, engine.candidates(trees, top=4), strict=True):
        assert one.entities.tolist() == other.entities.tolist()
        assert one.known.tolist() == other.known.tolist()


def test_probabilities_know_how_many_ends_the_last_link_has(engine: Engine) -> None:
    habit = Curve.none()
    weights = np.where(np.array(FEATURES) == "ends", 1.0, habit.weights)
    told = Engine(engine.kg, engine.encoder, engine.index, Calibration({"all": replace(habit, weights=weights)}))
    for question in ("?x : directed(Leone, ?x)", "?x : directed(?x, Amarcord)"):
        asked = read_question(question, engine.kg)
        (found,) = told.candidates([asked.tree])
        assert found.ends == log_mean_tails(asked.tree, RelationSchema(engine.kg.graph()))
        said = told.ask(question, any_kind=True, why=False).predicted[0].probability
        assert said == pytest.approx(1 / (1 + 9 * np.exp(-found.ends)), abs=1e-3)


def test_each_stage_is_entered_once_and_from_the_pipeline_alone(engine: Engine) -> None:
    """One question takes one way: read, find, calibrate, select, reasons, and no stage calls another one."""
    stages = {
        "read_question": "read",
        "find": "find",
        "calibrate": "calibration",
        "select": "select",
        "give_reasons": "reasons",
    }
    root, entered = Path(pathformer.engine.__file__).parent, []

    def trace(frame: FrameType, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        stage = stages.get(frame.f_code.co_name)
        if event == "call" and root in file.parents and stage == file.stem:
            entered.append((stage, Path(frame.f_back.f_code.co_filename).relative_to(root).as_posix()))

    sys.setprofile(trace)
    try:
        engine.ask(FELLINI, top=4)
    finally:
        sys.setprofile(None)
    assert entered == [(stage, "answer/pipeline.py") for stage in stages.values()]


def test_a_limit_of_sparql_is_kept(engine: Engine) -> None:
    assert len(engine.ask("SELECT ?x { :Fellini :directed/:stars ?x } LIMIT 2")) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"known": "yes"}, "known .* 'yes'"),
        ({"min_probability": "0.5"}, r"probability .* '0\.5'"),
        ({"min_probability": float("nan")}, "probability .* nan"),
        ({"min_probability": 1.5}, r"probability .* 1\.5"),
        ({"top": "5"}, "top .* '5'"),
        ({"top": -1}, "top .* -1"),
        ({"top": 1.5}, r"top .* 1\.5"),
    ],
)
def test_an_impossible_option_is_named(engine: Engine, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        engine.ask("?x : directed(Fellini, ?x)", **options)


def test_what_the_graph_refutes_is_not_predicted(engine: Engine) -> None:
    answers = engine.ask("?f : directed(Fellini, ?f) & !won(?f, Oscar)", top=1000, any_kind=True)
    assert {"8½", "La_Strada"}.isdisjoint(names(answers))
    assert len(answers) == engine.kg.vocabulary.entity_count - 2


def engine_trees(engine: Engine) -> list[Tree]:
    rng = np.random.default_rng(0)
    vocabulary = engine.kg.vocabulary
    bounds = {"e": vocabulary.entity_count, "r": vocabulary.relation_count}
    return [
        structure.tree([int(rng.integers(bounds[column])) for column in structure.columns])
        for structure in STRUCTURES.values()
        for _ in range(8)
    ]


def test_candidates_are_a_full_sort_by_distance(engine: Engine) -> None:
    """The naive twin: every entity's distance, the refuted left out, the known kept, the nearest others taken."""
    trees = engine_trees(engine)
    graph = engine.kg.graph()
    for tree, found in zip(trees, engine.candidates(trees, top=4), strict=True):
        points = engine.encoder.points([tree])
        table = engine.encoder.rows()
        distances = np.min([np.abs(table - point).sum(axis=1) for point in points.rows], axis=0)
        known, barred = set(answer(tree, graph).tolist()), set(impossible_answers(tree, graph).tolist())
        others = [e for e in np.argsort(distances, kind="stable").tolist() if e not in known | barred][:4]
        assert set(found.entities[found.known].tolist()) == known
        assert found.entities[found.predicted].tolist() == others
        assert found.distances == pytest.approx(distances[found.entities], rel=1e-5)
        assert (np.diff(found.distances) >= 0).all()


@settings(max_examples=40)
@given(st.data())
def test_any_tree_can_be_asked(engine: Engine, data: st.DataObject) -> None:
    vocabulary = engine.kg.vocabulary
    relations = st.integers(0, vocabulary.relation_count - 1)
    leaf = st.builds(Projection, relations, st.builds(Anchor, st.integers(0, vocabulary.entity_count - 1)))

    def extend(inner):
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        barred = st.tuples(inner, st.builds(Negation, inner))
        return st.one_of(
            st.builds(Projection, relations, inner),
            st.builds(Intersection, several),
            st.builds(Intersection, barred),
            st.builds(Union, several),
        )

    tree = data.draw(st.recursive(leaf, extend, max_leaves=6))
    answers = engine.ask(tree, top=3)
    exact = answer(tree, engine.kg.graph())
    assert sorted(names(answers.known)) == sorted(vocabulary.entity(int(e)) for e in exact)
    assert all(a.reason is not None and a.reason.links for a in answers)
    assert all(link.stated for a in answers.known for link in a.reason.links)
    assert bool(answers.note) is (len(exact) == 0)


def test_messages(engine: Engine) -> None:
    with pytest.raises(UnknownNameError, match="no entity 'Felini'; closest: 'Fellini'"):
        engine.ask("?x : directed(Felini, ?x)")
    with pytest.raises(UnsupportedQueryError, match="OPTIONAL"):
        engine.ask("SELECT ?x { :Fellini :directed ?x OPTIONAL { ?x :won ?y } }")
    with pytest.raises(InputError, match=r"a question must be .* float"):
        engine.ask(3.5)
    other = KnowledgeGraph.from_triples([("a", "r", "b")])
    with pytest.raises(EngineError, match="the model knows 18 entities, the graph has 2"):
        Engine(other, engine.encoder, engine.index)
