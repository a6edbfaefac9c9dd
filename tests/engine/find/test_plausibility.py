"""What an engine does with questions and predictions that do not fit its graph."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.engines import engine_over

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.calibrate.curve import Curve
from pathformer.engine.engine import Engine
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build


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
    return engine_over(kg, model, calibration)


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
    return Engine(engine.kg, engine.encoder, engine.index, Calibration({"all": replace(Curve.none(), predictions=100)}))


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
