"""Relations that restate another, in a fit: no question is given away by another relation, and the report says so."""

from __future__ import annotations

import numpy as np
from support.engines import tiny_settings

from pathformer.engine.engine import Engine
from pathformer.fitting.fit import fit
from pathformer.fitting.heldout import draw_held_out, hold_out, refresh_answers
from pathformer.fitting.report import FitReport
from pathformer.kg.knowledge import KnowledgeGraph

Named = tuple[str, str, str]


def facts(count: int = 300, seed: int = 0) -> list[Named]:
    rng = np.random.default_rng(seed)
    return list(dict.fromkeys((f"a{h}", "r", f"b{t}") for h, t in rng.integers(0, 40, (count, 2)).tolist()))


def turned(rows: list[Named]) -> list[Named]:
    return [(tail, "r_of", head) for head, _, tail in rows]


def report_of(engine: Engine) -> FitReport:
    return FitReport.from_json(engine.files["report.json"].decode())


def quickly(kg: KnowledgeGraph) -> Engine:
    return fit(kg, settings=tiny_settings(kg, 2), progress=False)


def test_a_fit_holds_out_and_names_what_states_the_same() -> None:
    rows = facts()
    engine = quickly(KnowledgeGraph.from_triples([*rows, *turned(rows)], name="twice"))
    report, held_out = report_of(engine), len(engine.kg.splits["valid"]) + len(engine.kg.splits["test"])
    [found] = report.restatements
    assert (found.relation, found.restated_by, found.kind, found.share) == ("r", "r_of", "inverse", 1.0)
    assert (found.facts, found.held_out) == (len(rows), held_out / 2)
    [note] = [note for note in report.notes if "repeat" in note]
    assert note.startswith(
        f"1 relation repeats other facts (`r_of` states the inverse of `r` in 100 % of its facts). {held_out} held-out"
    )
    text = engine.files["report.md"].decode()
    assert f"| `r_of` | the inverse of `r` | 100 % | {len(rows)} | {held_out // 2} |" in text
    assert report.markdown() == text


def test_nothing_asks_for_what_the_users_own_train_states() -> None:
    rows = facts()
    train, restated, unstated = rows[:200], rows[200:230], rows[230:]
    kg = KnowledgeGraph.from_triples([*train, *turned(train), *turned(restated)], valid=unstated[:15], test=restated)
    assert hold_out(kg, 0.1) is kg
    assert draw_held_out(kg, "test", 50) == {}
    asked = draw_held_out(kg, "valid", 50)["1p"]
    assert asked.hard.counts.sum() == 2 * 15  # in both directions
    wider = KnowledgeGraph.from_triples([*train, *turned(train)], valid=unstated[:15], test=restated)
    stated = KnowledgeGraph("more", kg.vocabulary, kg.splits)
    assert len(draw_held_out(wider, "test", 50)["1p"]) > 0
    assert refresh_answers(draw_held_out(wider, "test", 50), stated) == {}


def test_a_users_own_parts_stay_and_the_report_says_what_was_not_asked() -> None:
    rows = facts(500)
    train, valid, test = rows[:300], rows[300:350], rows[350:]
    kg = KnowledgeGraph.from_triples([*train, *turned(train), *turned(test[:30])], valid=valid, test=test)
    engine = quickly(kg)
    assert {split: len(part) for split, part in engine.kg.splits.items()} == {
        split: len(part) for split, part in kg.splits.items()
    }
    notes = report_of(engine).notes
    assert any(note.startswith("30 triples of valid and test are stated by an earlier part too.") for note in notes)


def test_where_everything_is_stated_nothing_is_measured() -> None:
    rows = facts()
    kg = KnowledgeGraph.from_triples([*rows[:200], *turned(rows)], valid=rows[200:230], test=rows[230:])
    report = report_of(quickly(kg))
    assert report.scores is None
    assert any(
        note.startswith("Every triple of valid or of test is stated by an earlier part too") for note in report.notes
    )
