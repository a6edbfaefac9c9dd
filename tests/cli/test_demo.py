"""`pathformer demo`: learns, asks, and looks its predictions up; a question of one's own is answered exactly."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from pathformer.cli._main import app
from pathformer.cli.demo import exact_answers
from pathformer.errors import UnknownNameError
from pathformer.fitting.demo import QUESTIONS
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph

EXACT = {
    "?script : borders(India, ?country) & official_language(?country, ?language) & written_in(?language, ?script)": (
        "Arabic script, Bangla script, Devanagari script, Latin script, Myanmar script, Simplified Chinese script,"
        " Tibetan script, Traditional Chinese script"
    ),
    "?city : capital_of(?city, ?country)"
    " & (official_language(?country, Dutch) | official_language(?country, Portuguese))": (
        "Amsterdam, Bissau, Brasília, Brussels, Ciudad de la Paz, Dili, Kralendijk, Lisbon, Luanda, Macau, Maputo,"
        " Oranjestad, Paramaribo, Philipsburg, Praia, São Tomé, Willemstad"
    ),
    "?country : in_continent(?country, Europe) & uses_currency(?country, Euro)"
    " & !(borders(?country, ?other) & uses_currency(?other, Euro))": "Cyprus, Finland, Ireland, Malta, Åland Islands",
}


@pytest.fixture(scope="module")
def world() -> KnowledgeGraph:
    return load("world")


@pytest.mark.parametrize("formula", EXACT)
def test_exact_answers_that_anybody_can_check(world: KnowledgeGraph, formula: str) -> None:
    assert exact_answers(formula, world).shown == EXACT[formula].split(", ")


def test_one_question_has_two_hops_one_and_not_and_one_or() -> None:
    two_hops, and_not, or_ = (question.formula for question in QUESTIONS)
    assert two_hops.count("?country") == 2
    assert "& !" in and_not
    assert "|" in or_


def test_each_question_has_answers_among_the_hidden_facts(world: KnowledgeGraph) -> None:
    """So that predictions can be right: what the whole graph says, and the graph without the hidden part does not."""
    parts = world.split(0.05, 0.05)
    seen = KnowledgeGraph("seen", parts.vocabulary, {"train": parts.splits["train"], "valid": parts.splits["valid"]})
    for question in QUESTIONS:
        assert set(exact_answers(question.formula, world).shown) - set(exact_answers(question.formula, seen).shown)


def test_it_learns_measures_asks_checks_and_draws() -> None:
    done = CliRunner().invoke(app, ["demo", "--seconds", "0.2"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.exception
    output = done.output
    assert "--any-kind" not in output  # an option of `ask` alone
    for question in QUESTIONS:
        assert question.words in output
        assert question.formula in output
    assert "518 of them hidden" in output
    assert "Held-out MRR" in output
    assert output.count("known      ") == 3
    assert output.count("predicted  ") == 15
    assert "assuming" in output
    assert output.count("true: the hidden facts say so") + output.count("not in the hidden facts") == 15
    assert ("%? " in output) == ("a probability with ? was not measured" in output)
    assert "└─ Western Africa" in output
    assert "pathformer fit your-triples.tsv --out yours" in output


def test_a_question_of_ones_own() -> None:
    done = CliRunner().invoke(app, ["demo", "?c : borders(?c, Portugal)"])
    assert "Spain" in done.output
    assert "1 answer, found in" in done.output
    assert "states nothing" not in done.output
    assert "hidden" not in done.output


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
    done = CliRunner().invoke(app, ["demo", "?c : capital_of(Japan, ?c)"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert "0 answers" in done.output
    assert "capital_of(?c, Japan)" in done.output  # what to ask instead


def test_an_unknown_name_is_answered_with_the_closest() -> None:
    done = CliRunner().invoke(app, ["demo", "?c : borders(?c, Frnce)"])
    assert isinstance(done.exception, UnknownNameError)
    assert str(done.exception).startswith("no entity 'Frnce'; closest: 'France'")
