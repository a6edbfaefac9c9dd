"""Why the graph has no answer: what others like an entity have, and a link that is asked the wrong way round."""

from __future__ import annotations

import pytest

from pathformer.engine.answer.read import read_question
from pathformer.engine.reasons.empty import why_empty
from pathformer.engine.find.known import ExactSets
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.schema import Kinds


def reason(kg: KnowledgeGraph, question: str) -> str:
    """Why the graph has no answer, behind the part that is at fault."""
    asked = read_question(question, kg)
    return why_empty(asked.tree, ExactSets(kg.graph()), kg.vocabulary, Kinds(kg.graph())).partition(": ")[2]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "?x : written_by(Woolf, ?x)",
            "Woolf is the subject of no written_by, but the object of 4: ask written_by(?x, Woolf)",
        ),
        ("?x : borrowed(?x, Ann)", "Ann is the object of no borrowed, but the subject of 2: ask borrowed(Ann, ?x)"),
        (
            "?x : written_by(?b, Woolf) & borrowed(?b, ?x) & !borrowed(?x, Emma)",
            "the 4 of written_by(?b, Woolf) are the subject of no borrowed, but the object of 2: "
            "ask written_by(?b, Woolf) & borrowed(?x, ?b)",
        ),
        # what nothing is the other way round, either; what others like it have; and what would lead back
        ("?x : borrowed(Woolf, ?x)", "Woolf is the subject of no borrowed"),
        ("?x : lent(Cy, ?x)", "Cy is the subject of no lent"),
        ("?x : lent(Ann, ?y) & lent(?y, ?x)", "the one of lent(Ann, ?y) is the subject of no lent"),
        ("?x : lent(Bob, ?y) & borrowed(?x, ?y)", "the one of lent(Bob, ?y) is the object of no borrowed"),
    ],
)
def test_a_link_that_is_asked_the_wrong_way_round_is_told(question: str, told: str) -> None:
    triples = [(f"book {n}", "written_by", "Woolf") for n in range(4)] + [("Emma", "written_by", "Austen")]
    triples += [(who, "borrowed", f"book {n}") for who in ("Ann", "Bob") for n in range(2)]
    triples += [("Ann", "lent", "Bob"), ("Bob", "lent", "Cy")]
    assert reason(KnowledgeGraph.from_triples(triples), question) == told


def test_a_link_that_the_graph_lacks_is_not_asked_the_wrong_way_round() -> None:
    """Of `sibling` most have both directions: that no monk has one says little of Cy, whom a king calls his brother."""
    triples = [(f"monk {n}", "lives_in", "abbey") for n in range(30)] + [("Cy", "lives_in", "abbey")]
    siblings = [(f"king {n}", "sibling", f"king {n ^ 1}") for n in range(20)] + [("king 0", "sibling", "Cy")]
    served = [(f"king {n}", "served_by", f"page {n}") for n in range(20)] + [("king 0", "served_by", "king 1")]
    kg = KnowledgeGraph.from_triples([*triples, *siblings, *served, ("king 0", "served_by", "Cy")])
    lacks = "Cy is the subject of no {0}, nor are the 30 others like it"
    assert reason(kg, "?x : sibling(Cy, ?x)") == lacks.format("sibling")
    hops = "the 31 of lives_in(?m, abbey) are the subject of no {0}"
    assert reason(kg, "?x : lives_in(?m, abbey) & sibling(?m, ?x)") == hops.format("sibling")
    turned = ", but the object of 1: ask {1}served_by(?x, {0})"
    assert reason(kg, "?x : served_by(Cy, ?x)") == lacks.format("served_by") + turned.format("Cy", "")
    assert reason(kg, "?x : lives_in(?m, abbey) & served_by(?m, ?x)") == (
        hops.format("served_by") + turned.format("?m", "lives_in(?m, abbey) & ")
    )


def test_an_empty_question_is_told_beside_what_others_have() -> None:
    """Eleven films, nine of them with a prize: what one has not is told beside what others like it have."""
    triples = [("Fellini", "directed", f"film {n}") for n in range(12)]
    triples += [(f"film {n}", "won", "Oscar") for n in range(9)] + [("film 9", "shot_in", "Rome")]
    kg = KnowledgeGraph.from_triples(triples)

    def told(relation: str, entity: str) -> str:
        return reason(kg, f'?x : {relation}("{entity}", ?x)')

    assert told("won", "film 11") == "film 11 is the subject of no won, while 9 of 11 others like it are"
    assert told("won", "film 9") == "film 9 is the subject of no won, while 9 of 11 others like it are"
    assert told("shot_in", "film 1") == "film 1 is the subject of no shot_in, while 1 of 11 others like it are"
    assert told("won", "Fellini") == "Fellini is the subject of no won"  # there is nobody like him


@pytest.mark.parametrize(
    ("parts", "end"), [(5, ""), (6, "; 1 other part is empty, too"), (40, "; 35 other parts are empty, too")]
)
def test_of_many_parts_that_are_empty_some_are_told(parts: int, end: str) -> None:
    kg = KnowledgeGraph.from_triples([(f"film {n}", "made_by", f"person {n}") for n in range(40)])
    question = "?x : " + " | ".join(f'made_by("person {n}", ?x)' for n in range(parts))
    told = reason(kg, question)
    assert told.count("is the subject of no made_by") == 5
    assert told.endswith(f'ask made_by(?x, "person 4"){end}')
