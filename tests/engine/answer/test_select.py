"""Implausible predictions are hidden and counted, known answers never are; `any_kind` shows them in their order."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathformer.engine.answer.answers import Answers
from pathformer.engine.answer.show import html_table, notes
from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.curve import Curve
from pathformer.engine.engine import Engine
from pathformer.engine.find.find import search_depth

DIRECTED = "?x : directed(Fellini, ?x)"
FILMS = {"La_Strada", "8½", "Amarcord", "Ginger", "Leopard", "West"}
QUESTIONS = (
    DIRECTED,
    "?x : directed(Fellini, ?x) & stars(?x, Quinn)",
    "?x : directed(Fellini, ?x) | won(Leopard, ?x)",
    "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)",
    "?x : stars(?x, Quinn) & !won(?x, Oscar)",
    "?x : directed(Leone, ?x) & directed(Visconti, ?x)",
)


@pytest.fixture(scope="module")
def measured(engine: Engine) -> Engine:
    """The same engine, as if its probabilities had been measured."""
    return Engine(engine.kg, engine.encoder, engine.index, Calibration({"all": replace(Curve.none(), predictions=100)}))


def seen(answers: Answers) -> list[tuple[int, str, float, float]]:
    return [(a.rank, a.entity, a.score, a.probability) for a in answers]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        (DIRECTED, FILMS),
        ("?x : directed(Fellini, ?x) & stars(?x, Quinn)", FILMS),
        ("?x : directed(Fellini, ?x) | won(Leopard, ?x)", FILMS | {"Oscar", "Palme"}),
    ],
)
def test_what_fits_is_given_and_nothing_else(measured: Engine, question: str, kind: set[str]) -> None:
    answers = measured.ask(question, top=100)
    assert {a.entity for a in answers} == kind
    assert all(a.calibrated for a in answers)
    assert {a.entity for a in answers.hidden} == set(measured.kg.vocabulary.entities) - kind


def test_any_kind_shows_all_in_their_place_without_a_measure(measured: Engine) -> None:
    answers = measured.ask(DIRECTED, top=100, why=False, any_kind=True)
    assert len(answers) == measured.kg.vocabulary.entity_count
    assert {a.entity for a in answers if a.calibrated} == FILMS
    assert answers.calibrated
    assert answers.hidden == ()
    assert all(one.probability >= other.probability for one, other in pairwise(answers.predicted))


@settings(max_examples=60)
@given(
    st.sampled_from(QUESTIONS),
    st.integers(0, 12),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, 0.0, 0.02, 0.5]),
)
def test_what_is_hidden_is_what_any_kind_would_add(
    measured: Engine, question: str, top: int, known: bool | None, least: float | None
) -> None:
    """Nothing vanishes: of what any kind shows, each is given as it was, or hidden."""
    plain = measured.ask(question, top=top, known=known, min_probability=least, why=False)
    every = measured.ask(question, top=top, known=known, min_probability=least, why=False, any_kind=True)
    assert plain.known == replace(every.known, note=plain.note)
    held = {a.entity for a in plain.hidden}
    assert held == {a.entity for a in every if not a.calibrated}
    assert set(seen(every)) <= {*seen(plain), *((a.rank, a.entity, a.score, a.probability) for a in plain.hidden)}
    assert all(a.calibrated for a in plain)
    assert not any(a.calibrated or a.known or a.reason for a in plain.hidden)
    assert len(plain.predicted) <= top
    assert bool(held) is ("hidden" in notes(plain))


@pytest.mark.parametrize("top", range(1, 6))
def test_the_search_looks_deeper_for_what_fits(measured: Engine, top: int) -> None:
    every = measured.ask(DIRECTED, top=100, why=False, any_kind=True).predicted
    fit = every[: search_depth(top)].where(lambda a: a.calibrated)
    assert measured.ask(DIRECTED, top=top, why=False).predicted.items == fit.items[:top]


def test_how_deep_it_looks() -> None:
    assert [search_depth(top) for top in (0, 1, 10, 1000)] == [0, 4, 40, 2000]


def test_an_engine_that_measured_nothing_hides_them_all_the_same(engine: Engine) -> None:
    answers = engine.ask(DIRECTED, top=100)
    assert {a.entity for a in answers} == FILMS
    assert not any(a.calibrated for a in answers.predicted)
    hidden, defaults = notes(answers).splitlines()
    assert f"{len(answers.hidden)} predictions" in hidden
    assert defaults == answers.doubt


def test_they_are_told_and_handed_on(measured: Engine) -> None:
    answers = measured.ask(DIRECTED, top=100)
    several = len(answers.hidden)
    assert f"{several} predictions are hidden" in notes(answers)
    assert f"{several} predictions are hidden" in html_table(answers)
    assert repr(answers) == f"<Answers: 4 known, 2 predicted, {several} hidden; {DIRECTED}>"
    read = json.loads(answers.to_json())
    assert [one["entity"] for one in read["hidden"]] == [a.entity for a in answers.hidden]
    assert all(not one["calibrated"] and not one["known"] and one["reason"] is None for one in read["hidden"])
    assert "1 prediction is hidden" in notes(replace(answers, hidden=answers.hidden[:1]))
    assert notes(replace(answers, hidden=())) == ""


def test_a_cut_says_no_more_of_them_than_it_leaves(measured: Engine) -> None:
    answers = measured.ask(DIRECTED, top=100, why=False)
    likeliest = max(a.probability for a in answers.hidden)
    assert answers.known.hidden == ()
    assert answers.predicted.hidden == answers.hidden
    assert answers.at_least(likeliest).hidden
    assert not answers.at_least(likeliest + 1e-6).hidden
    assert answers.at_precision(0.0).hidden == ()  # nothing of them was measured


def test_a_limit_counts_what_it_would_show(measured: Engine) -> None:
    limited = measured.ask("SELECT ?x { :Fellini :directed ?x } LIMIT 4", why=False)
    assert len(limited) == 4  # all of them known
    assert limited.hidden == ()
    more = measured.ask("SELECT ?x { :Fellini :directed ?x } LIMIT 6", why=False)
    assert len(more.known) == 4
    assert len(more.hidden) == sum(a.rank <= 6 for a in measured.ask(DIRECTED, top=100, why=False).hidden)


def test_where_nothing_is_known_a_probability_is_told_to_need_an_answer(engine: Engine, measured: Engine) -> None:
    question = "?x : won(Amarcord, ?x)"
    nothing = measured.ask(question, known=True).note
    assert "won(Amarcord, ?x)" in nothing
    assert measured.ask(question).note.startswith(f"{nothing} These probabilities hold if ")
    assert measured.ask(question, top=0).note == f"{nothing} No predictions were asked for."
    assert engine.ask(question).note == nothing  # nothing was measured there, which `doubt` says
    assert measured.ask("?x : won(8½, ?x)").note == ""
