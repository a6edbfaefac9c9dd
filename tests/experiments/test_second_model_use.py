"""What a run with another beside it is afterwards: killed, changed, judged elsewhere, kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from support.second_model_toy import save_runs, train

from pathformer.errors import CheckpointError, ConfigError, InputError
from pathformer.experiments.make_engine import make_engine
from pathformer.experiments.records import make_record, seconds_before_all
from pathformer.experiments.run import start_anew
from pathformer.experiments.second_model import FOLDER, PAIR, figures_file, kinds, note_pair
from pathformer.experiments.settings import read_run
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.training import checkpoint
from pathformer.training.logs import LOG, read_log

ROOT = Path(__file__).parents[2]
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_runs(tmp_path_factory.mktemp("second_model"))


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> Path:
    """A copy of the finished one."""
    return Path(shutil.copytree(folder / "run", tmp_path / "run"))


def test_a_kill_after_the_second_run_leaves_nothing_but_the_rest_to_do(folder: Path, run: Path) -> None:
    """Before anything is noted, while it is noted, and before both are written."""
    whole, log = checkpoint.read(run / PAIR).tensors, (run / LOG).read_text()
    before, noted = "".join(log.splitlines(keepends=True)[:-1]), log.splitlines(keepends=True)[-1]
    for left in (before, before + noted[:30], log):
        (run / PAIR).unlink()
        (run / "manifest.json").unlink()  # it is written when both are
        (run / LOG).write_text(left)
        with pytest.raises(
            InputError, match=r"run is not finished: .*second\.toml is yet to be trained beside it; the"
        ):
            make_engine(run)
        assert train(folder, run).result.finished
        again = checkpoint.read(run / PAIR).tensors
        assert all(torch.equal(whole[name], again[name]) for name in whole)
        assert (run / LOG).read_text() == log


def test_a_second_run_that_is_trained_again_is_noted_anew(folder: Path, run: Path) -> None:
    before = read_log(run / LOG)
    start_anew(run / FOLDER)
    assert train(folder, run).result.finished
    after, theirs = read_log(run / LOG), read_log(run / FOLDER / LOG)
    assert after[:-1] == before[:-1]
    assert after[-1][FOLDER] == theirs[-1]["seconds"] != before[-1][FOLDER]
    assert after[-1]["seconds"] == pytest.approx(after[-2]["seconds"] + theirs[-1]["seconds"])


def test_other_settings_of_the_second_are_refused(folder: Path, run: Path) -> None:
    for setting, told in (
        ("second_model_settings=['model.dim=8']", "second_model_settings"),
        ("second_model_weight=0.3", "second_model_weight"),
    ):
        with pytest.raises(CheckpointError, match=f"run holds a run with other settings: {told}.*start it anew"):
            train(folder, run, setting)
    second = folder / "second.toml"
    words = second.read_text()
    try:
        second.write_text(words.replace("steps = 6", "steps = 7"))
        with pytest.raises(CheckpointError, match=r"second holds a run with other settings: training\.steps"):
            train(folder, run)
    finally:
        second.write_text(words)


def test_without_the_test_both_are_kept_and_it_can_follow(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert train(folder, out, test=False).reports == {}
    assert not list(out.rglob("test-*"))
    assert make_engine(out, asked=0).files == {}
    assert set(train(folder, out).reports) == {"last", "best"}


def test_without_validation_queries_the_last_weights_are_joined(folder: Path, tmp_path: Path) -> None:
    kg = KnowledgeGraph.open(folder / "graph")
    names = kg.vocabulary
    triples = [
        (names.entities[h], names.relations[r // 2], names.entities[t]) for h, r, t in kg.splits["train"].tolist()
    ]
    bare = KnowledgeGraph.from_triples(triples, name="bare").save(tmp_path / "bare")
    settings = (f"dataset={bare}", f"second_model_settings=['dataset={bare}']")
    out = tmp_path / "run"
    assert train(folder, out, *settings).reports == {}
    assert kinds(out) == ("last",)
    log, theirs = read_log(out / LOG), read_log(out / FOLDER / LOG)
    assert log[-1]["seconds"] == pytest.approx(log[-2]["seconds"] + theirs[-1]["seconds"])  # the time of both is told
    assert "valid/mrr" not in log[-1]
    assert checkpoint.read_facts(out / PAIR)["valid_mrr"] is None
    assert make_engine(out, asked=0).encoder.name == "pair"


@pytest.mark.parametrize("looked", ["first", "second"])
def test_where_one_alone_was_validated_its_best_stand_beside_the_last_of_the_other(
    folder: Path, tmp_path: Path, looked: str
) -> None:
    out = tmp_path / "run"
    blind = "training.validations=0"
    outcome = train(folder, out, blind if looked == "second" else f"second_model_settings=['{blind}']")
    assert kinds(out) == tuple(outcome.reports) == ("last", "best")
    assert [(place / "best.safetensors").is_file() for place in (out, out / FOLDER)] == [
        looked == "first",
        looked == "second",
    ]
    assert figures_file(out / PAIR, "json") == out / "test-best.json"
    assert checkpoint.read_facts(out / PAIR)["valid_mrr"] == read_log(out / LOG)[-1]["valid/mrr"]


def test_the_last_weights_of_both_are_ranked_and_the_best(folder: Path, run: Path) -> None:
    """Where the first was best long before its end."""
    known = json.loads((run / "test-last.json").read_text())["scores"]
    saved = checkpoint.read(run / "best.safetensors")
    turned = {**saved.tensors, "model.entities.weight": saved.tensors["model.entities.weight"].flip(0)}
    checkpoint.write(run / "best.safetensors", {**saved.facts, "step": 3}, turned)
    reports = train(folder, run).reports
    assert [report.about["weights"] for report in reports.values()] == ["last, step 6", "best, step 3"]
    kept = {kind: json.loads((run / f"test-{kind}.json").read_text())["scores"] for kind in reports}
    assert kept["last"] == known != kept["best"]


def test_a_run_cannot_start_from_both(folder: Path, run: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"pair\.safetensors is two models side by side: start from one of them, .*best"
    ):
        train(folder, tmp_path / "new", f"start={run / PAIR}", "second_model=")
    assert train(folder, tmp_path / "new", f"start={run}", "second_model=", test=False).result.finished


def test_a_folder_that_was_moved_needs_nothing_of_where_it_was_trained(
    folder: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second's file may have changed, or be gone: what it was trained with lies in its own folder."""
    settings, second = run / "settings.toml", str(folder / "second.toml")
    words = settings.read_text()
    assert second in words
    settings.write_text(words.replace(second, "second.toml"))  # as a path within the folder it was trained from
    saved = checkpoint.read(run / PAIR)
    facts = {**saved.facts, "settings": {**saved.facts["settings"], "second_model": "second.toml"}}
    checkpoint.write(run / PAIR, facts, saved.tensors)
    record = make_record(run, run=str(folder / "first.toml"))
    assert (record.minutes, record.seconds_before) == (None, 0.0)
    assert make_engine(run, asked=0).encoder.name == "pair"

    monkeypatch.chdir(tmp_path)  # here is another file of that name
    Path("second.toml").write_text("dataset = 'lines'\nstart = 'complex-nell995'\n")
    assert make_record(run, run=str(folder / "first.toml")).seconds_before == 0.0


def test_weights_of_both_can_go_alone_and_by_another_name(run: Path, tmp_path: Path) -> None:
    saved = checkpoint.read(run / PAIR)
    facts = {**saved.facts, "settings": {**saved.facts["settings"], "second_model": "gone.toml"}}
    checkpoint.write(file := tmp_path / "alone" / "nell.safetensors", facts, saved.tensors)
    parts = [checkpoint.read_facts(place / "best.safetensors")["seconds"] for place in (run, run / FOLDER)]
    engine = make_engine(file, asked=0)
    assert engine.about["seconds"] == sum(parts)
    assert engine.encoder.name == "pair"


# --- its records --------------------------------------------------------------------------------------------


def test_the_first_run_alone_is_not_given_the_figures_or_the_time_of_both(run: Path) -> None:
    log = read_log(run / LOG)
    both, alone = (make_engine(run / name, asked=0) for name in (PAIR, "best.safetensors"))
    assert (both.encoder.name, alone.encoder.name) == ("pair", "composed")
    assert (both.about["seconds"], alone.about["seconds"]) == (log[-1]["seconds"], log[-2]["seconds"])
    assert set(both.files) == {"report.md"}
    assert alone.files == {}


def test_the_time_before_is_that_of_both(folder: Path, tmp_path: Path) -> None:
    start = tmp_path / "start.toml"
    start.write_text("")
    settings = [f"start={start}", f"second_model_settings=['start={start}']"]
    one, two = (read_run(folder / "first.toml", part) for part in (settings[:1], settings))
    assert seconds_before_all(tmp_path, two) is None  # neither is there
    checkpoint.write(tmp_path / "start" / "last.safetensors", {"seconds": 20.0}, {})
    assert (seconds_before_all(tmp_path, one), seconds_before_all(tmp_path, two)) == (20.0, None)
    checkpoint.write(tmp_path / FOLDER / "start" / "last.safetensors", {"seconds": 1.5}, {})
    assert seconds_before_all(tmp_path, two) == 21.5
    shared = tmp_path / "start"
    run = read_run(folder / "first.toml", [f"start={shared}", f"second_model_settings=['start={shared}']"])
    assert seconds_before_all(tmp_path / "elsewhere", run) == 20.0  # trained once for both


def test_waits_for_queries_are_those_of_both(folder: Path, run: Path) -> None:
    file = str(folder / "first.toml")
    assert make_record(run, run=file).seconds_waited is None  # neither draws fresh ones
    for place, seconds in ((run, 0.25), (run / FOLDER, 1.5)):
        line = json.dumps({"step": 6, "seconds": 0.0, "seconds_waited": seconds})
        with (place / LOG).open("a", encoding="utf-8") as log:
            log.write(f"{line}\n")
    assert make_record(run, run=file).seconds_waited == 1.8


def test_the_most_memory_is_that_of_either(folder: Path, run: Path) -> None:
    for place, held in ((run, 2.0), (run / FOLDER, 3.5)):
        with (place / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps({"step": 6, "seconds": 0.0, "memory_gb": held}) + "\n")
    note_pair(run, None)
    assert read_log(run / LOG)[-1]["memory_gb"] == 3.5
    assert make_record(run, run=str(folder / "first.toml")).memory_gb == 3.5
