"""Records of runs: written and read back, refused when they are none, and those of the package are whole."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from pathformer.errors import InputError
from pathformer.experiments.records import RECORDS, Record, curve_of, read_records
from pathformer.experiments.settings import run_names
from pathformer.experiments.tables.captions import QUERY_SETS
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

ROOT = Path(__file__).parents[2]


def a_record(**more: object) -> Record:
    plain: dict[str, object] = {
        "run": "fb15k-237-epfo", "minutes": 5.0, "steps": 9, "seconds": 300.2,
        "queries": "released Query2box queries", "trained_on": "drawn",
        "mrr": {"last": {name: float(n) for n, name in enumerate(EPFO)}},
    }  # fmt: skip
    return Record(**{**plain, **more})  # type: ignore[arg-type]


def test_a_record_reads_back(tmp_path: Path) -> None:
    curve = [{"seconds": 60.0, "1p": 20.5}, {"seconds": 120.0, "1p": 30.25}]
    record = a_record(
        hits={"last": {"1p": [1.0, 2.0, 3.0]}}, machine={"device": "H200"}, parameters=12, curve=curve, memory_gb=2.5
    )
    path = record.write(tmp_path / "new")
    assert path.name == "fb15k-237-epfo@5min.json"
    assert Record.read(path) == record
    assert json.loads(path.read_text())["machine"] == {"device": "H200"}
    assert '\n  {"seconds": 120.0, "1p": 30.25}\n ],\n' in path.read_text()  # a line a validation
    assert not list(path.parent.glob("*.part"))


def test_a_record_has_a_line_for_each_set_of_figures(tmp_path: Path) -> None:
    """So that a difference of two of them can be read."""
    mrr = {"last": {"1p": 1.0, "2p": 2.0}, "best": {"1p": 3.0, "2p": 4.0}}
    text = a_record(mrr=mrr, weights={"last": 9}, machine={"device": "card"}).write(tmp_path / "a" / "b").read_text()
    assert text.startswith('{\n "run": "fb15k-237-epfo",\n "variant": "",\n')
    assert ' "mrr": {\n  "last": {"1p": 1.0, "2p": 2.0},\n  "best": {"1p": 3.0, "2p": 4.0}\n },\n "hits": {},\n' in text
    assert ' "weights": {"last": 9},\n "curve": [],\n' in text
    assert text.endswith(' "note": ""\n}\n')


def test_a_curve_holds_the_validations_of_a_log_in_percent() -> None:
    log = [
        {"step": 1, "seconds": 1.0, "loss": 2.0},
        {"step": 5, "seconds": 3.04, "valid/mrr": 0.2, "valid/1p": 0.30001, "valid/2p": 0.1},
        {"step": 9, "seconds": 6.0, "valid/mrr": 0.3, "valid/1p": 0.4, "valid/2p": 0.2},
    ]
    assert curve_of(log) == [{"seconds": 3.0, "1p": 30.001, "2p": 10.0}, {"seconds": 6.0, "1p": 40.0, "2p": 20.0}]
    assert curve_of(log[:1]) == []


def test_averages_are_of_whole_groups_only() -> None:
    figures = a_record(parameters=12_200_000).figures("best")
    assert figures["avg"] == pytest.approx(sum(range(9)) / 9)
    assert figures["Parameters"] == 12.2
    assert "avg negation" not in figures
    some = a_record(mrr={"best": dict.fromkeys(NEGATION_STRUCTURES, 2.0) | {"1p": 5.0}})
    assert (some.kind("last"), some.figures("last")["avg negation"]) == ("best", 2.0)
    assert "avg" not in some.figures("last")


def test_updates_and_queries_are_counted_from_the_steps() -> None:
    def of(**settings: object) -> tuple[int | None, int | None]:
        plain = {
            "trained": "epfo",
            "training.update_per_structure": True,
            "training.batch": 4,
            "training.batch_per": "structure",
        }
        record = a_record(steps=10, settings={**plain, **{f"training.{key}": value for key, value in settings.items()}})
        return record.updates, record.seen

    assert of() == (50, 200)
    assert of(update_per_structure=False) == (10, 200)
    assert of(update_per_structure=False, batch_per="step") == (10, 40)
    negated = a_record(
        steps=10, settings={"trained": "efol", "training.update_per_structure": True, "training.batch": 4}
    )
    assert (negated.updates, negated.seen) == (100, 400)
    assert (a_record().updates, a_record().seen) == (None, None)


def test_the_queries_of_the_package_fit_the_speed_that_was_measured() -> None:
    for record in read_records():
        if record.queries_per_second is not None and record.seen is not None:
            own = (
                record.curve[-2]["seconds"] if record.settings.get("second_model") else record.seconds
            )  # the first run's
            rate = record.seen / own
            assert 0.3 * record.queries_per_second < rate < 1.5 * record.queries_per_second, record.file_name


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a@5min.json").write_text("[]")
    with pytest.raises(InputError, match=r"a@5min\.json: not the record of a run"):
        read_records(tmp_path)
    entry = dataclasses.asdict(a_record()) | {"extra": 1}
    (tmp_path / "a@5min.json").write_text(json.dumps(entry))
    with pytest.raises(InputError, match="no field 'extra'"):
        read_records(tmp_path)


def test_a_folder_is_read_in_the_order_of_names_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    a_record(steps=2).write(tmp_path)
    a_record(minutes=1.25).write(tmp_path)
    assert [(record.minutes, record.steps) for record in read_records(tmp_path)] == [(5.0, 2), (1.25, 9)]
    assert read_records(tmp_path / "none") == []


@pytest.mark.parametrize("path", sorted(RECORDS.glob("*@*.json")), ids=lambda path: path.stem)
def test_the_records_of_this_project_are_whole(path: Path) -> None:
    record = Record.read(path)
    assert record.file_name == path.name
    assert record.run in run_names()
    assert record.queries in QUERY_SETS
    assert record.commit != "unknown"
    assert record.machine["device"]
    assert record.settings["dataset"]
    assert all(0.0 <= value <= 100.0 for scores in record.mrr.values() for value in scores.values())
    assert path.stat().st_size < 20_000
