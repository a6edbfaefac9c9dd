"""Old held-out questions after a graph has grown: what became true, or untrue, is held against no model."""

from __future__ import annotations

import numpy as np
import torch

from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.fitting.heldout import draw_held_out, drop_new_entities, refresh_answers
from pathformer.kg.grow import grow
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import graph_pair
from pathformer.symbolic.answer import answer, answer_rows

TRAIN = [("a", "r", "x"), ("b", "s", "y"), ("a", "r", "y"), ("b", "s", "w")]
TEST = [("a", "r", "z"), ("a", "r", "w")]


def given(new: list[tuple[str, str, str]]) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """A graph of which TEST is held out, and the same with new triples."""
    whole = KnowledgeGraph.from_triples([*TRAIN, *TEST])
    ids = whole.splits["train"]
    held = np.isin(ids[:, 2], [whole.vocabulary.entities.find(name)[0] for _, _, name in TEST]) & (ids[:, 1] == 0)
    old = KnowledgeGraph("toy", whole.vocabulary, {"train": ids[~held], "valid": ids[:0], "test": ids[held]})
    return old, grow(old, KnowledgeGraph.from_triples(new)).kg


def named(kg: KnowledgeGraph, ids: np.ndarray) -> set[str]:
    return {kg.vocabulary.entity(int(entity)) for entity in ids}


def the_row(kg: KnowledgeGraph, queries: Queries, anchor: str) -> int:
    """Which of the questions is r(anchor, ?)."""
    [row] = np.flatnonzero((queries.ids == [kg.vocabulary.entities.find(anchor)[0], 0]).all(axis=1))
    return int(row)


def test_a_new_answer_is_known_and_an_old_one_still_to_be_found() -> None:
    old, grown = given([("a", "r", "new")])
    held = draw_held_out(old, "test", 50)
    again = refresh_answers(held, grown)["1p"]
    row, first = the_row(old, again, "a"), the_row(old, held["1p"], "a")
    assert named(old, held["1p"].easy[first]) == {"x", "y"}
    assert named(grown, again.easy[row]) == {"x", "y", "new"}
    assert named(grown, again.hard[row]) == {"z", "w"} == named(old, held["1p"].hard[first])
    alone = drop_new_entities({"1p": again}, old.vocabulary.entity_count)["1p"]
    assert named(old, alone.easy[row]) == {"x", "y"}
    assert named(old, alone.hard[row]) == {"z", "w"}


def test_what_a_negation_takes_away_since_is_not_asked_for() -> None:
    """r(a, ?) & !s(b, ?): z was to be found, and w, which s(b, w) forbids, never was."""
    old, grown = given([("b", "s", "z")])
    a, b = (old.vocabulary.entities.find(name)[0] for name in "ab")
    rows = np.array([[a, 0, b, 2]], np.int32)
    asked = {"2in": Queries(STRUCTURES["2in"], rows, *answer_rows(STRUCTURES["2in"], rows, graph_pair(old, "test")))}
    assert named(old, asked["2in"].hard[0]) == {"z"}
    assert refresh_answers(asked, grown) == {}
    elsewhere = refresh_answers(asked, given([("new", "s", "a")])[1])
    assert named(old, elsewhere["2in"].hard[0]) == {"z"}


def test_what_new_triples_prove_is_known_and_no_longer_to_be_found() -> None:
    """s(b, z) is new, r(a, z) stays held out: of r(a, ?) | s(b, ?) z is known now, and nothing else was to be found."""
    old, grown = given([("b", "s", "z")])
    a, b = (old.vocabulary.entities.find(name)[0] for name in "ab")
    rows = np.array([[a, 0, b, 2], [a, 0, a, 2]], np.int32)
    asked = {"2u": Queries(STRUCTURES["2u"], rows, *answer_rows(STRUCTURES["2u"], rows, graph_pair(old, "test")))}
    assert [named(old, asked["2u"].hard[row]) for row in (0, 1)] == [{"z"}, {"z", "w"}]
    again = refresh_answers(asked, grown)["2u"]
    assert again.ids.tolist() == rows[1:].tolist()  # the second does not ask b
    assert named(grown, again.hard[0]) == {"z", "w"}


def test_what_is_held_out_of_the_new_triples_proves_nothing() -> None:
    """z follows from what is new as well, but no model was taught that: it is still to be found."""
    old, grown = given([("b", "s", "z")])
    z, train = old.vocabulary.entities.find("z")[0], grown.splits["train"]
    new = (train[:, 2] == z) & (train[:, 1] == 2)
    parts = {**grown.splits, "train": train[~new], "test": np.concatenate([grown.splits["test"], train[new]])}
    a, b = (old.vocabulary.entities.find(name)[0] for name in "ab")
    rows = np.array([[a, 0, b, 2]], np.int32)
    asked = {"2u": Queries(STRUCTURES["2u"], rows, *answer_rows(STRUCTURES["2u"], rows, graph_pair(old, "test")))}
    again = refresh_answers(asked, KnowledgeGraph("toy", grown.vocabulary, parts))["2u"]
    assert named(grown, again.hard[0]) == {"z"}


def test_answers_are_those_of_the_grown_graph(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> None:
    """Twin: every question answered one by one."""
    triples = [t for part in small_graph_triples.values() for t in part]
    old = KnowledgeGraph.from_triples(triples).split(0.1, 0.1, seed=0)
    new = [(f"n{i}", f"r{i % 3}", f"e{i}") for i in range(9)] + [(f"e{i}", "r1", f"e{i + 9}") for i in range(9)]
    grown = grow(old, KnowledgeGraph.from_triples(new)).kg
    held = draw_held_out(old, "test", 15)
    again = refresh_answers(held, grown)
    assert len(again) == len(STRUCTURES)
    became = 0
    for name, asked in held.items():
        expected = []
        for row in range(len(asked)):
            tree = asked.structure.tree(asked.ids[row].tolist())
            true, proved = (set(answer(tree, grown.graph(part)).tolist()) for part in ("test", "valid"))
            hard = (set(asked.hard[row].tolist()) & true) - proved
            became += len(set(asked.hard[row].tolist()) & proved)
            if hard:
                known = (set(asked.easy[row].tolist()) | true | proved) - hard
                expected.append((asked.ids[row].tolist(), known, hard))
        found = again[name]
        assert expected == [
            (found.ids[row].tolist(), set(found.easy[row].tolist()), set(found.hard[row].tolist()))
            for row in range(len(found))
        ]
    assert became  # some were to be found and are known now


def test_a_new_entity_that_answers_costs_an_old_question_nothing() -> None:
    """The same rows for old entities and a new one above them all: the old filter counts it as wrong."""
    old, grown = given([("a", "r", "new")])
    torch.manual_seed(0)
    model = build("complex", {"rank": 4}, entities=grown.vocabulary.entity_count, relations=4).eval()
    held = {"1p": draw_held_out(old, "test", 50)["1p"]}
    asked = {"1p": held["1p"].take(np.array([the_row(old, held["1p"], "a")]))}
    with torch.no_grad():
        point, _ = ModelRanker(model).points(asked["1p"])
        model.entities.weight[-1] = 100.0 * point[0]
    again = refresh_answers(asked, grown)
    small = build("complex", {"rank": 4}, entities=old.vocabulary.entity_count, relations=4).eval()
    rows = {name: len(table) for name, table in small.state_dict().items()}
    small.load_state_dict({name: table[: rows[name]] for name, table in model.state_dict().items()})
    before = evaluate(ModelRanker(small), drop_new_entities(again, small.entity_count)).mrr
    assert evaluate(ModelRanker(model), again).mrr == before
    assert evaluate(ModelRanker(model), asked).mrr < before
