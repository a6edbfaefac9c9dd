"""Why the graph has no answer: what similar entities have, and whether the other direction was meant."""

from __future__ import annotations

import pytest

from pathformer.engine.answer.read import read_question
from pathformer.engine.find.exact_sets import ExactSets
from pathformer.engine.reasons.empty import why_empty
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.schema import RelationSchema

TURNED = "did you mean"


def reason(kg: KnowledgeGraph, question: str) -> str:
    asked = read_question(question, kg)
    return why_empty(asked.tree, ExactSets(kg.graph()), kg.vocabulary, RelationSchema(kg.graph()))


@pytest.mark.parametrize(
    ("question", "never", "meant"),
    [
        ("?x : written_by(Woolf, ?x)", "Woolf is never the subject of `written_by`", "4 answers|written_by(?x, Woolf)"),
        ("?x : borrowed(?x, Ann)", "Ann is never the object of `borrowed`", "2 answers|borrowed(Ann, ?x)"),
        (
            "?x : written_by(?b, Woolf) & borrowed(?b, ?x) & !borrowed(?x, Emma)",
            "none of the 4 entities in written_by(?b, Woolf) is the subject of `borrowed`",
            "2 answers|written_by(?b, Woolf) & borrowed(?x, ?b)",
        ),
        # what nothing is in the other direction, either; what others like it have; and what would lead back
        ("?x : borrowed(Woolf, ?x)", "Woolf is never the subject of `borrowed`", ""),
        ("?x : lent(Cy, ?x)", "Cy is never the subject of `lent`", ""),
        ("?x : lent(Ann, ?y) & lent(?y, ?x)", "the only entity in lent(Ann, ?y) is never the subject of `lent`", ""),
        ("?x : lent(Bob, ?y) & borrowed(?x, ?y)", "entity in lent(Bob, ?y) is never the object of `borrowed`", ""),
    ],
)
def test_a_link_that_is_asked_the_wrong_way_round_is_turned(question: str, never: str, meant: str) -> None:
    triples = [(f"book {n}", "written_by", "Woolf") for n in range(4)] + [("Emma", "written_by", "Austen")]
    triples += [(who, "borrowed", f"book {n}") for who in ("Ann", "Bob") for n in range(2)]
    triples += [("Ann", "lent", "Bob"), ("Bob", "lent", "Cy")]
    text = reason(KnowledgeGraph.from_triples(triples), question)
    assert never in text
    assert all(part in text for part in meant.split("|"))
    assert bool(meant) is (TURNED in text)


def test_a_link_that_the_graph_lacks_is_not_turned() -> None:
    """Of `sibling` most have both directions: that no monk has one says little of Cy, whom a king calls his brother."""
    triples = [(f"monk {n}", "lives_in", "abbey") for n in range(30)] + [("Cy", "lives_in", "abbey")]
    siblings = [(f"king {n}", "sibling", f"king {n ^ 1}") for n in range(20)] + [("king 0", "sibling", "Cy")]
    served = [(f"king {n}", "served_by", f"page {n}") for n in range(20)] + [("king 0", "served_by", "king 1")]
    kg = KnowledgeGraph.from_triples([*triples, *siblings, *served, ("king 0", "served_by", "Cy")])
    sibling, serves = reason(kg, "?x : sibling(Cy, ?x)"), reason(kg, "?x : served_by(Cy, ?x)")
    for text, relation in ((sibling, "sibling"), (serves, "served_by")):
        assert f"Cy is never the subject of `{relation}`" in text
        assert "neither are the 30 entities like it" in text
    hops = reason(kg, "?x : lives_in(?m, abbey) & sibling(?m, ?x)")
    assert "none of the 31 entities in lives_in(?m, abbey) is the subject of `sibling`" in hops
    assert TURNED not in sibling + hops
    assert serves.endswith(f"1 answer: {TURNED} served_by(?x, Cy)?")
    served = reason(kg, "?x : lives_in(?m, abbey) & served_by(?m, ?x)")
    assert served.endswith(f"{TURNED} lives_in(?m, abbey) & served_by(?x, ?m)?")


@pytest.mark.parametrize(
    ("relation", "entity", "others"),
    [("won", "film 11", 9), ("won", "film 9", 9), ("shot_in", "film 1", 1), ("won", "Fellini", 0)],
)
def test_an_empty_question_says_what_similar_entities_have(relation: str, entity: str, others: int) -> None:
    """Twelve films, nine of them with a prize; nobody is like the one who directed them."""
    triples = [("Fellini", "directed", f"film {n}") for n in range(12)]
    triples += [(f"film {n}", "won", "Oscar") for n in range(9)] + [("film 9", "shot_in", "Rome")]
    text = reason(KnowledgeGraph.from_triples(triples), f'?x : {relation}("{entity}", ?x)')
    expected = f", but {others} of the 11 entities like it are." if others else "."
    assert text.endswith(f"{entity} is never the subject of `{relation}`{expected}")


@pytest.mark.parametrize(("parts", "others"), [(5, ""), (6, "1 other part is"), (40, "35 other parts are")])
def test_some_of_many_empty_parts_are_named(parts: int, others: str) -> None:
    kg = KnowledgeGraph.from_triples([(f"film {n}", "made_by", f"person {n}") for n in range(40)])
    text = reason(kg, "?x : " + " | ".join(f'made_by("person {n}", ?x)' for n in range(parts)))
    assert text.count("is never the subject of `made_by`") == 5
    assert text.endswith(f" {others} empty, too." if others else f'{TURNED} made_by(?x, "person 4")?')
