"""An updated engine tells its first fit and its updates apart, in header, report and card."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pathformer
from pathformer.engine.engine import Engine
from pathformer.engine.history import FirstFit, first_facts, last_update, learned_structures, trained_structures
from pathformer.fitting.fit import fit
from pathformer.fitting.notes import notes_on
from pathformer.fitting.release import compress
from pathformer.fitting.report import FitReport
from pathformer.fitting.settings import settings_for
from pathformer.fitting.update import update as update_engine
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import EFOL_TRAINED
from pathformer.querysets.query_sets import QuerySets

STARS = [(f"s{i % 5}", "r", f"t{i % 7}") for i in range(35)]
PASSED = {"triples": 5, "removed": 0, "trained": True, "steps": 300, "seconds": 16.0, "date": "2026-11-16"}


def header(**more: Any) -> dict[str, Any]:
    first = {"seconds": 110.0, "minutes": 2.0, "seed": 7, "steps": 1234, "device": "a card", "commit": "abc"}
    return {**first, "version": "0.1", "date": "2026-11-01", **more}


def test_what_the_first_fit_had_stays() -> None:
    assert first_facts(header()) == header()
    assert first_facts(header(updates=[PASSED])) == header()
    assert first_facts({"steps": 9, "card": {"commit": "abc", "date": "2026-11-02"}}) == {
        **dict.fromkeys(header()), "steps": 9, "commit": "abc", "date": "2026-11-02",
    }  # fmt: skip


def test_how_often_it_was_updated() -> None:
    assert last_update(header()) == ""
    assert last_update(header(updates=[PASSED])) == "once, the last on 2026-11-16: 5 new triples, 300 steps, 16 s"
    assert last_update(header(updates=[PASSED, PASSED])).startswith("2 times, the last on 2026-11-16: ")


def test_the_first_fit_in_a_sentence() -> None:
    assert FirstFit.of(header(updates=[PASSED])).sentence() == ("First fit: 1,234 steps, 1:50 min; updated once since.")
    assert FirstFit(2, None, None).sentence() == (
        "First fit: number of steps unknown, time unknown; updated 2 times since."
    )


def test_what_was_trained() -> None:
    assert trained_structures({}) == ()
    assert trained_structures({"card": {"trained": ["1p", "2p"]}}) == ("1p", "2p")
    assert trained_structures({"minutes": 1.0, "structures": ["1p"]}) == ("1p",)
    most = [name for name in EFOL_TRAINED if name != "3p"]
    first = learned_structures(most, None)
    assert first == {"structures": most, "lacking": ["3p"]}
    assert learned_structures(["1p"], first) == first  # what an update does not ask is known from before
    assert learned_structures(["1p", "3p"], first) == {"structures": list(EFOL_TRAINED), "lacking": []}
    assert learned_structures(["1p"], {"card": {"trained": ["2p"]}}) == {"structures": ["1p", "2p"], "lacking": []}
    assert learned_structures(["1p"], {}) == {"structures": [], "lacking": []}  # of a model that nobody speaks of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An engine of 1,234 steps, so it says, that was trained on all shapes but 1p and 3p."""
    usual = settings_for(entities=12, triples=35, minutes=1.0, hops=False).with_steps(3)
    training = replace(usual.training, batch=32, validations=1)
    scale = replace(
        usual,
        training=training,
        trained_per_structure=50,
        held_out_per_structure=10,
        model={**usual.model, "dim": 16, "heads": 2},
    )
    out = tmp_path_factory.mktemp("made") / "engine"
    engine = fit(KnowledgeGraph.from_triples(STARS), out=out, settings=scale, progress=False)
    lacking = Engine(
        engine.kg,
        engine.encoder,
        engine.index,
        engine.calibration,
        {
            **engine.about,
            **learned_structures([name for name in EFOL_TRAINED if name not in ("1p", "3p")], None),
            "steps": 1234,
        },
        engine.files,
    )
    return lacking.save(out, force=True)


def test_report_and_card_of_an_updated_engine_tell_both(folder: Path, tmp_path: Path) -> None:
    before, more = pathformer.load(folder), KnowledgeGraph.from_triples([("s0", "r", "new")])
    update_engine(folder, more, minutes=1e-7, out=tmp_path / "once", progress=False)
    once = pathformer.load(tmp_path / "once")
    [change] = once.about["updates"]
    report = FitReport.from_json(once.files["report.json"].decode())
    assert (report.steps, report.first) == (change["steps"], FirstFit(1, 1234, before.about["seconds"]))
    page = once.files["report.md"].decode()
    assert f" numbers, in the last update, {change['steps']} steps on " in page
    assert "\nFirst fit: 1,234 steps, " in page
    assert "; updated once since.\n" in page
    assert "\n## Time of the last update\n" in page
    assert "update" not in before.files["report.md"].decode()
    small = compress(once, "int8").files["MODEL_CARD.md"].decode()
    assert "\n- steps: 1,234\n" in small
    assert f"\n- updated: once, the last on {change['date']}: 1 new triple, 0 steps, " in small
    assert "- updated" not in compress(before, "int8").files["MODEL_CARD.md"].decode()
    again = update_engine(
        tmp_path / "once", KnowledgeGraph.from_triples([("s1", "r", "newer")]), minutes=1e-7, progress=False
    )
    assert last_update(again.about).startswith("2 times, the last on ")
    assert "First fit: 1,234 steps, " in again.files["report.md"].decode()


def test_what_could_not_be_trained_stays_told(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "pathformer.fitting.update_training.has_hops", lambda old: True
    )  # which learns single links alone
    more = KnowledgeGraph.from_triples([("s0", "r", "new")])
    engine = update_engine(folder, more, minutes=1e-7, out=tmp_path / "new", progress=False)
    assert engine.about["lacking"] == ["3p"]
    notes = FitReport.from_json(engine.files["report.json"].decode()).notes
    assert any("The graph of the first fit has no questions of the structure 3p" in note for note in notes)
    assert trained_structures(engine.about) == tuple(name for name in EFOL_TRAINED if name != "3p")


@pytest.mark.parametrize(
    ("lacking", "words"), [(["3p"], "structure 3p:"), (["2p", "3p"], "structures 2p, 3p:"), ([], "")]
)
def test_one_structure_is_not_several(folder: Path, lacking: list[str], words: str) -> None:
    engine = pathformer.load(folder)
    report = FitReport.from_json(engine.files["report.json"].decode())
    notes = notes_on(
        engine.kg,
        QuerySets(splits={"train": {}, "valid": {}, "test": {}}),
        report,
        fitted=True,
        grown=False,
        lacking=lacking,
    )
    [note] = [note for note in notes if "no questions of the" in note] or [""]
    assert words in note
    assert bool(words) is bool(note)
