"""Predictions of another kind are held back and said to be, never known answers; any kind shows them in their place."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathformer.engine.answer.answer import Answers
from pathformer.engine.answer.select import looked_at
from pathformer.engine.answer.show import html_table, notes
from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.curve import Curve
from pathformer.engine.engine import Engine

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
    return Engine(engine.kg, engine.model, engine.index, Calibration({"all": replace(Curve.none(), predictions=100)}))


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
    assert {a.entity for a in answers.held_back} == set(measured.kg.vocabulary.entities) - kind


def test_any_kind_shows_all_in_their_place_without_a_measure(measured: Engine) -> None:
    answers = measured.ask(DIRECTED, top=100, why=False, any_kind=True)
    assert len(answers) == measured.kg.vocabulary.entity_count
    assert {a.entity for a in answers if a.calibrated} == FILMS
    assert answers.calibrated
    assert answers.held_back == ()
    assert all(one.probability >= other.probability for one, other in pairwise(answers.predicted))


@settings(max_examples=60)
@given(
    st.sampled_from(QUESTIONS),
    st.integers(0, 12),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, 0.0, 0.02, 0.5]),
)
def test_what_is_held_back_is_what_any_kind_would_add(
    measured: Engine, question: str, top: int, known: bool | None, least: float | None
) -> None:
    """Nothing vanishes: of what any kind shows, each is given as it was, or held back."""
    plain = measured.ask(question, top=top, known=known, min_probability=least, why=False)
    every = measured.ask(question, top=top, known=known, min_probability=least, why=False, any_kind=True)
    assert plain.known == replace(every.known, note=plain.note)
    held = {a.entity for a in plain.held_back}
    assert held == {a.entity for a in every if not a.calibrated}
    assert set(seen(every)) <= {*seen(plain), *((a.rank, a.entity, a.score, a.probability) for a in plain.held_back)}
    assert all(a.calibrated for a in plain)
    assert not any(a.calibrated or a.known or a.why for a in plain.held_back)
    assert len(plain.predicted) <= top
    assert bool(held) is ("held back" in notes(plain))


@pytest.mark.parametrize("top", range(1, 6))
def test_the_search_looks_deeper_for_what_fits(measured: Engine, top: int) -> None:
    every = measured.ask(DIRECTED, top=100, why=False, any_kind=True).predicted
    fit = every[: looked_at(top)].where(lambda a: a.calibrated)
    assert measured.ask(DIRECTED, top=top, why=False).predicted.items == fit.items[:top]


def test_how_deep_it_looks() -> None:
    assert [looked_at(top) for top in (0, 1, 10, 1000)] == [0, 4, 40, 2000]


def test_an_engine_that_measured_nothing_holds_back_all_the_same(engine: Engine) -> None:
    answers = engine.ask(DIRECTED, top=100)
    assert {a.entity for a in answers} == FILMS
    assert not any(a.calibrated for a in answers.predicted)
    assert notes(answers).splitlines() == [
        f"of the nearest predictions {len(answers.held_back)} are held back: "
        "the graph has no link like them (--any-kind or any_kind=True shows them)",
        "probabilities are a mere habit: too little was held out to measure them by",
    ]


def test_they_are_told_and_handed_on(measured: Engine) -> None:
    answers = measured.ask(DIRECTED, top=100)
    several = len(answers.held_back)
    told = f"of the nearest predictions {several} are held back: the graph has no link like them"
    assert told in notes(answers)
    assert told in html_table(answers)
    assert repr(answers) == f"<Answers: 4 known, 2 predicted, {several} held back; {DIRECTED}>"
    read = json.loads(answers.to_json())
    assert [one["entity"] for one in read["held_back"]] == [a.entity for a in answers.held_back]
    assert all(not one["calibrated"] and not one["known"] and one["why"] is None for one in read["held_back"])
    one = replace(answers, held_back=answers.held_back[:1])
    assert notes(one) == (
        "of the nearest predictions one is held back: the graph has no link like it "
        "(--any-kind or any_kind=True shows it)"
    )
    assert notes(replace(answers, held_back=())) == ""


def test_a_cut_says_no_more_of_them_than_it_leaves(measured: Engine) -> None:
    answers = measured.ask(DIRECTED, top=100, why=False)
    likeliest = max(a.probability for a in answers.held_back)
    assert answers.known.held_back == ()
    assert answers.predicted.held_back == answers.held_back
    assert answers.at_least(likeliest).held_back
    assert not answers.at_least(likeliest + 1e-6).held_back
    assert answers.at_precision(0.0).held_back == ()  # nothing of them was measured


def test_a_limit_counts_what_it_would_show(measured: Engine) -> None:
    limited = measured.ask("SELECT ?x { :Fellini :directed ?x } LIMIT 4", why=False)
    assert len(limited) == 4  # all of them known
    assert limited.held_back == ()
    more = measured.ask("SELECT ?x { :Fellini :directed ?x } LIMIT 6", why=False)
    assert len(more.known) == 4
    assert len(more.held_back) == sum(a.rank <= 6 for a in measured.ask(DIRECTED, top=100, why=False).held_back)


def test_where_nothing_is_known_a_probability_is_told_to_need_an_answer(engine: Engine, measured: Engine) -> None:
    nothing = "the graph states nothing for won(Amarcord, ?x): Amarcord is the subject of no won"
    question = "?x : won(Amarcord, ?x)"
    assert measured.ask(question).note == f"{nothing}; probabilities hold if there is an answer at all"
    assert measured.ask(question, top=0).note == f"{nothing}; no predictions were asked for"
    assert measured.ask(question, known=True).note == nothing
    assert engine.ask(question).note == nothing  # nothing was measured there, which is told
    assert measured.ask("?x : won(8½, ?x)").note == ""
