"""`pathformer demo`: three questions with answers that anybody can check, and a question of one's own."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from pathformer.cli import app
from pathformer.cli.demo import QUESTIONS, exact_answers
from pathformer.errors import UnknownNameError
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph

ANSWERS = (
    "Arabic script, Bangla script, Devanagari script, Latin script, Myanmar script, Simplified Chinese script,"
    " Tibetan script, Traditional Chinese script",
    "Amsterdam, Bissau, Brasília, Brussels, Ciudad de la Paz, Dili, Kralendijk, Lisbon, Luanda, Macau, Maputo,"
    " Oranjestad, Paramaribo, Philipsburg, Praia, São Tomé, Willemstad",
    "Cyprus, Finland, Ireland, Malta, Åland Islands",
)


@pytest.fixture(scope="module")
def world() -> KnowledgeGraph:
    return load("world")


@pytest.mark.parametrize(("number", "answers"), list(enumerate(ANSWERS)))
def test_the_three_questions(world: KnowledgeGraph, number: int, answers: str) -> None:
    assert exact_answers(QUESTIONS[number].formula, world).shown == answers.split(", ")


def test_one_has_several_hops_one_or_and_one_not() -> None:
    formulas = [question.formula for question in QUESTIONS]
    assert formulas[0].count("&") == 2
    assert "|" in formulas[1]
    assert "!" in formulas[2]


def test_it_shows_question_formula_answers_and_time() -> None:
    done = CliRunner().invoke(app, ["demo"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    for question in QUESTIONS:
        assert question.words in done.output
        assert question.formula in done.output
    assert "Cyprus   Finland   Ireland   Malta   Åland Islands" in done.output
    assert "5 answers, found in " in done.output


def test_a_question_of_ones_own() -> None:
    done = CliRunner().invoke(app, ["demo", "?c : borders(?c, Portugal)"])
    assert "Spain" in done.output
    assert "1 answer, found in" in done.output
    assert "euro" not in done.output


NEIGHBOURS = "SELECT ?c { ?c :borders :France }"


def test_a_limit_is_kept_and_the_others_are_counted(world: KnowledgeGraph) -> None:
    every, two = (exact_answers(NEIGHBOURS + limit, world) for limit in ("", " LIMIT 2"))
    assert len(every.shown) == every.count == two.count > 2
    assert two.shown == every.shown[:2]
    done = CliRunner().invoke(app, ["demo", NEIGHBOURS + " LIMIT 2"])
    assert f"2 of {every.count} answers, found in" in done.output
    assert every.shown[0] in done.output
    assert every.shown[2] not in done.output
    assert f"  {every.count} answers, found in" in CliRunner().invoke(app, ["demo", NEIGHBOURS + " LIMIT 99"]).output


def test_ids_are_those_of_the_bundled_graph(world: KnowledgeGraph) -> None:
    france, borders = world.vocabulary.entity_id("France"), world.vocabulary.relation_id("borders")
    assert exact_answers(f"({france}, ({borders ^ 1},))", world).shown == exact_answers(NEIGHBOURS, world).shown
    assert CliRunner().invoke(app, ["demo", "(0, (0,))"]).exit_code == 0


def test_a_question_without_answers() -> None:
    done = CliRunner().invoke(app, ["demo", "?c : borders(?c, Japan)"])
    assert done.exit_code == 0
    assert "0 answers" in done.output


def test_an_unknown_name_is_answered_with_the_closest() -> None:
    done = CliRunner().invoke(app, ["demo", "?c : borders(?c, Frnce)"])
    assert isinstance(done.exception, UnknownNameError)
    assert str(done.exception).startswith("no entity 'Frnce'; closest: 'France'")
