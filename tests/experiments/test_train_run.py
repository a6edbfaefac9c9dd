"""From a run file to figures, on a graph of forty entities; through Python and through the command line."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from rich.console import Console
from support import training_toy as toy
from typer.testing import CliRunner

from pathformer.cli._main import app
from pathformer.errors import CheckpointError, ConfigError, InputError
from pathformer.evaluation.report import Report
from pathformer.experiments import run as run_module
from pathformer.experiments.evaluate_run import evaluate_run, find_checkpoint
from pathformer.experiments.run import start_anew, train_run
from pathformer.experiments.settings import Run, read_run
from pathformer.files import lock
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import EPFO
from pathformer.training import checkpoint
from pathformer.training.display import Display

SMALL = """
dataset = "{graph}"
queries = "drawn"
valid_queries = 50

[model]
dim = 16
layers = 1
heads = 2
dropout = 0.0

[training]
steps = 20
batch = 16
validations = 3
update.rate = 0.02

[paper]
mrr = {{ "1p" = 12.5 }}
"""


@pytest.fixture(scope="module")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    toy.save_graph(folder / "graph")
    (folder / "small.toml").write_text(SMALL.format(graph=folder / "graph"))
    return folder / "small.toml"


@pytest.fixture(scope="module")
def trained(run_path: Path) -> Path:
    """A finished run."""
    folder = run_path.parent / "trained"
    outcome = train_run(read_run(run_path), folder, device="cpu", display=toy.quiet())
    assert outcome.result.finished
    return folder


def test_a_run_leaves_weights_settings_and_figures(trained: Path, run_path: Path) -> None:
    assert {p.name for p in trained.iterdir() if p.is_file()} == {
        "settings.toml", "log.jsonl", "last.safetensors", "best.safetensors", "manifest.json",
        "test-last.json", "test-last.md", "test-best.json", "test-best.md",
    }  # fmt: skip
    assert read_run(trained / "settings.toml").plain() == read_run(run_path).plain()
    facts = checkpoint.read_facts(trained / "best.safetensors")
    assert (facts["method"], facts["entities"], facts["relations"]) == ("pathformer", 40, 6)
    report = Report.from_json((trained / "test-last.json").read_text())
    assert list(report.scores) == list(EPFO)
    assert report.about["weights"] == "last, step 20"
    assert report.about["queries"] == "drawn by the protocol, seed 0"
    assert "| paper | diff |" in (trained / "test-last.md").read_text()


def test_measuring_a_checkpoint_gives_the_figures_of_the_run(trained: Path) -> None:
    for name in ("last", "best"):
        again = evaluate_run(trained / f"{name}.safetensors", device="cpu")
        assert again.scores == Report.from_json((trained / f"test-{name}.json").read_text()).scores
    assert find_checkpoint(trained) == trained / "best.safetensors"
    valid = evaluate_run(
        trained, split="valid", structures=["1p", "2in"], strict=True, ties="pessimistic", device="cpu"
    )
    assert list(valid.scores) == ["1p", "2in"]
    assert (valid.about["filter"], valid.about["ties"], valid.paper) == ("strict", "pessimistic", {})


def test_unions_may_be_taken_otherwise_than_the_method_does(trained: Path) -> None:
    own, other = (evaluate_run(trained, structures=["1p", "2u"], union=way, device="cpu") for way in (None, "demorgan"))
    assert own.scores["1p"] == other.scores["1p"]
    assert own.scores["2u"] != other.scores["2u"]
    assert ("union" in own.about, other.about["union"]) == (False, "demorgan")


def test_a_run_says_what_it_does_where_that_takes_long_and_where_its_box_was_too_small(
    run_path: Path, tmp_path: Path
) -> None:
    shown = io.StringIO()
    display = Display(Console(file=shown, width=200))
    train_run(read_run(run_path, ["training.minutes=1e-6"]), tmp_path / "run", device="cpu", display=display)
    lines = shown.getvalue().splitlines()
    assert lines[0].startswith("reading ")
    assert any(
        re.fullmatch(r"0 updates in 0 s on cpu: so few teach next to nothing, .* make more of them", x) for x in lines
    )
    assert lines[-1] == "ranking the test queries"


def test_a_processor_is_told_early_that_a_wide_model_is_meant_for_a_card(
    run_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*settings: str) -> str:
        shown = io.StringIO()
        display = Display(Console(file=shown, width=200))
        train_run(read_run(run_path, settings), tmp_path / "run", device="cpu", display=display, test=False)
        return shown.getvalue()

    assert "card" not in said("training.minutes=1e-6")
    monkeypatch.setattr(run_module, "_WIDE", 16)
    start_anew(tmp_path / "run")
    told = said("training.minutes=1e-6")
    assert told.index("1e-06 minutes of a processor hold few updates") < told.index("0 updates in")
    start_anew(tmp_path / "run")
    assert "processor" not in said()  # by steps: how long they take is shown


def test_wrong_words_are_refused(trained: Path) -> None:
    with pytest.raises(ConfigError, match=r"ties 'optimist' is not one of expected, .*; closest: 'optimistic'"):
        evaluate_run(trained, ties="optimist")
    with pytest.raises(ConfigError, match="answers 'all' is not one of hard, easy"):
        evaluate_run(trained, answers="all")
    with pytest.raises(ConfigError, match="split 'train' is not one of valid, test"):
        evaluate_run(trained, split="train")
    with pytest.raises(ConfigError, match="union 'demorgn' is not one of dnf, native, demorgan; closest: 'demorgan'"):
        evaluate_run(trained, union="demorgn")


def test_another_graph_is_refused(trained: Path, tmp_path: Path) -> None:
    other = KnowledgeGraph.from_triples([("x", "r", "y")], [("y", "r", "x")], name="other").save(tmp_path / "other")
    with pytest.raises(CheckpointError) as caught:
        evaluate_run(trained, graph=str(other), split="valid")
    facts = checkpoint.read_facts(trained / "best.safetensors")
    assert facts["fingerprint"] in str(caught.value)
    assert KnowledgeGraph.open(other).vocabulary.fingerprint() in str(caught.value)


def test_other_settings_do_not_continue_a_run(trained: Path, run_path: Path) -> None:
    changed = read_run(run_path, ["training.update.rate=0.05", "model.layers=2"])
    with pytest.raises(CheckpointError, match=r"training\.update\.rate was 0\.02 and is 0\.05") as caught:
        train_run(changed, trained, device="cpu", display=toy.quiet())
    assert "model.layers was 1 and is 2" in str(caught.value)
    assert "--fresh" in str(caught.value)
    noted = read_run(run_path, ["note=another remark"])
    assert train_run(noted, trained, device="cpu", test=False, display=toy.quiet()).result.step == 20


def test_starting_anew_deletes_only_what_a_run_made(tmp_path: Path) -> None:
    for name in ("last.safetensors", "best.safetensors", "log.jsonl", "test-last.json", "mine.txt"):
        (tmp_path / name).touch()
    start_anew(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_where_another_process_trains_is_left_as_it_is(run_path: Path, tmp_path: Path) -> None:
    train_run(read_run(run_path, ["training.steps=2"]), tmp_path, device="cpu", display=toy.quiet(), test=False)
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    held = lock.open_lock(tmp_path / lock.FILE)
    assert held is not None
    refused = rf"^another process is writing to {tmp_path}: wait for it, or choose another folder$"
    try:
        with pytest.raises(InputError, match=refused):
            train_run(read_run(run_path), tmp_path, device="cpu", display=toy.quiet())
        with pytest.raises(InputError, match=refused):
            start_anew(tmp_path)
    finally:
        os.close(held)
    (tmp_path / lock.FILE).unlink()
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_nothing_is_made_for_a_run_that_cannot_begin(run_path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        train_run(read_run(run_path, ["dataset=nowhere"]), tmp_path / "run", device="cpu", display=toy.quiet())
    assert not any(tmp_path.iterdir())
    start_anew(tmp_path / "run")
    assert not any(tmp_path.iterdir())


def test_a_graph_without_splits_trains_without_validation(tmp_path: Path) -> None:
    triples = [(f"e{i}", f"r{i % 3}", f"e{(i * 7 + s) % 30}") for i in range(30) for s in range(4)]
    KnowledgeGraph.from_triples(triples, name="one").save(tmp_path / "one")
    run: Run = read_run(None, [f"dataset={tmp_path / 'one'}", "queries=drawn", "model.dim=8", "training.steps=2"])
    outcome = train_run(run, tmp_path / "run", device="cpu", display=toy.quiet())
    assert outcome.result.finished
    assert (outcome.result.best, outcome.reports) == (None, {})


def test_the_command_line_trains_continues_and_evaluates(run_path: Path, tmp_path: Path) -> None:
    shell = CliRunner(env={"COLUMNS": "160"})
    out = tmp_path / "out"
    arguments = ["train", str(run_path), "training.steps=6", "--out", str(out), "--device", "cpu"]
    done = shell.invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    assert " on cpu: " in done.output
    assert "<" not in done.output.partition("train queries")[0]
    assert "6 steps in" in done.output
    assert "avg" in done.output
    assert "paper" in done.output
    assert "test queries: drawn by the protocol, seed 0" in done.output
    before = (out / "last.safetensors").stat().st_mtime_ns
    assert shell.invoke(app, arguments, catch_exceptions=False).exit_code == 0
    assert (out / "last.safetensors").stat().st_mtime_ns == before
    untested = shell.invoke(app, [*arguments, "--fresh", "--no-test"], catch_exceptions=False)
    assert untested.exit_code == 0
    assert "valid queries: drawn by the protocol, seed 0" in untested.output
    assert "test queries" not in untested.output
    assert (out / "last.safetensors").stat().st_mtime_ns != before
    shown = shell.invoke(app, ["evaluate", str(out), "--device", "cpu", "--format", "json", "-s", "2u"])
    assert list(json.loads(shown.stdout)["scores"]) == ["2u"]
    assert "| 2u |" in shell.invoke(app, ["evaluate", str(out), "-s", "2u", "--format", "markdown"]).stdout
    assert "Hits@10" in shell.invoke(app, ["evaluate", str(out), "-s", "2u"]).stdout


@pytest.mark.slow
def test_a_command_that_is_killed_again_and_again_ends_with_the_same_bits(run_path: Path, tmp_path: Path) -> None:
    def command(out: Path) -> list[str]:
        settings = ["training.steps=600", "training.save_minutes=0", "--device", "cpu", "--out", str(out)]
        return [sys.executable, "-m", "pathformer", "train", str(run_path), *settings]

    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    subprocess.run(command(whole), env=environment, check=True, capture_output=True)
    for step in (20, 200, 400):
        process = subprocess.Popen(command(cut), env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while not (cut / "last.safetensors").exists() or checkpoint.read_facts(cut / "last.safetensors")["step"] < step:
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.01)
        process.kill()
        process.wait()
    assert not (cut / "test-last.json").exists()
    subprocess.run(command(cut), env=environment, check=True, capture_output=True)
    for name in ("last", "best"):
        one, other = (checkpoint.read(folder / f"{name}.safetensors").tensors for folder in (whole, cut))
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)
        reports = [Report.from_json((folder / f"test-{name}.json").read_text()) for folder in (whole, cut)]
        assert reports[0].scores == reports[1].scores


def test_the_command_line_refuses_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such checkpoint"):
        CliRunner().invoke(app, ["evaluate", str(tmp_path / "gone.safetensors")], catch_exceptions=False)
    (tmp_path / "engine.json").touch()
    with pytest.raises(InputError, match="is an engine: say what it is asked, either --facts FILE"):
        CliRunner().invoke(app, ["evaluate", str(tmp_path)], catch_exceptions=False)
    early = CliRunner().invoke(app, ["evaluate", str(tmp_path / "gone"), "--format", "yaml"])  # before anything is read
    assert early.exit_code == 2
    assert "yaml" in early.output
    with pytest.raises(InputError, match="no run file 'nothing'"):
        CliRunner().invoke(app, ["train", "nothing"], catch_exceptions=False)
