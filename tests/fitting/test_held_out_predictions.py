"""Held-out questions as they are searched: what is known there, and what counts as right."""

from __future__ import annotations

import numpy as np
import pytest
from support.engines import engine_over

from pathformer.engine.engine import Engine
from pathformer.fitting.held_out_predictions import find_predictions, graph_without
from pathformer.fitting.heldout import draw_held_out, hold_out
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build


@pytest.fixture(scope="module")
def engine(graph: KnowledgeGraph) -> Engine:
    return untrained(hold_out(graph, 0.1))


def untrained(kg: KnowledgeGraph) -> Engine:
    names = kg.vocabulary
    settings = {"dim": 16, "layers": 1, "heads": 2}
    model = build("pathformer", settings, entities=names.entity_count, relations=names.relation_count)
    return engine_over(kg, model)


@pytest.mark.parametrize(("part", "others"), [("valid", ("train", "test")), ("test", ("train", "valid"))])
def test_everything_but_a_part_is_known(engine: Engine, part: str, others: tuple[str, ...]) -> None:
    known = graph_without(engine.kg, part)
    for name in others:
        assert all(tail in known.tails_of(head, relation) for head, relation, tail in engine.kg.splits[name].tolist())
    missing = [tail not in known.tails_of(head, relation) for head, relation, tail in engine.kg.splits[part].tolist()]
    assert all(missing)


def test_what_the_other_part_makes_true_is_neither_right_nor_wrong(engine: Engine) -> None:
    """Knowing train alone, predictions that `test` makes true count as wrong; knowing all but valid, none is there."""
    kg = engine.kg
    whole = kg.graph()
    questions = {"1p": draw_held_out(kg, "valid", 40)["1p"]}
    counts = {}
    for name, graph in (("train", kg.graph("train")), ("all but valid", graph_without(kg, "valid"))):
        judged = find_predictions(questions, graph, engine.finders, top=kg.vocabulary.entity_count)
        counts[name] = 0
        for (head, relation), found, right in zip(
            questions["1p"].ids.tolist(), judged.candidates, judged.right, strict=True
        ):
            true = np.isin(found.entities[found.predicted], whole.tails_of(head, relation))
            assert not (right & ~true).any()
            counts[name] += int((true & ~right).sum())
    assert counts["train"] > 0 == counts["all but valid"]


def test_what_is_judged_is_what_is_shown() -> None:
    """The predictions of held-out questions are those that `ask` gives, without the implausible ones."""
    draw = np.random.default_rng(0)
    pairs = [(int(a), int(b)) for a, b in draw.integers(0, 15, (120, 2))]
    triples = [(f"a{a}", "r", f"b{b}") for a, b in pairs] + [(f"b{a}", "s", f"c{b}") for a, b in pairs]
    engine = untrained(hold_out(KnowledgeGraph.from_triples(triples), 0.1))
    questions = draw_held_out(engine.kg, "test", 6)
    judged = find_predictions(questions, engine.kg.graph(), engine.finders)
    asked = [each.structure.instance(row.tolist()) for each in questions.values() for row in each.ids]
    names, hidden = engine.kg.vocabulary, 0
    for found, answers in zip(judged.candidates, engine.ask(asked, why=False), strict=True):
        assert [names.entity(int(e)) for e in found.entities[found.predicted]] == [a.entity for a in answers.predicted]
        likely = engine.calibration.probabilities(found)[found.predicted]
        assert likely.tolist() == [a.probability for a in answers.predicted]
        hidden += len(answers.hidden)
    assert hidden > len(asked)
