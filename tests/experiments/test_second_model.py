"""Runs whose points stand side by side: trained one after the other, judged as one, cut and continued."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console
from support import training_toy as toy

from pathformer.errors import ConfigError, UnsupportedQueryError
from pathformer.experiments.evaluate_run import evaluate_run, find_checkpoint
from pathformer.experiments.records import make_record
from pathformer.experiments.run import Outcome, start_anew, train_run
from pathformer.experiments.second_model import FOLDER, PAIR, second_run, whole_minutes
from pathformer.experiments.settings import read_run
from pathformer.models.pair import Pair
from pathformer.training import checkpoint
from pathformer.training.display import Display
from pathformer.training.logs import LOG, read_log

SMALL = 'queries = "drawn"\nmodel = {{ dim = 16, layers = 1, heads = 2{model} }}\nvalid_queries = 9\n'
TRAINING = "training = { steps = 12, batch = 8, validations = 2, update_per_structure = false }\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beside")
    graph, other = toy.save_graph(folder / "graph"), toy.save_graph(folder / "other", 1)
    runs = {
        "second": f'dataset = "{graph}"\n' + SMALL.format(model=', space = "sphere", fork = "set"') + TRAINING,
        "elsewhere": f'dataset = "{other}"\n' + SMALL.format(model="") + TRAINING,
        "flat": f'dataset = "{graph}"\n' + SMALL.format(model="") + TRAINING,
        "gqe": f'dataset = "{graph}"\nqueries = "drawn"\nmethod = "gqe"\n' + TRAINING,
        "ten": f'dataset = "{graph}"\ntrained = "efol"\n' + SMALL.format(model="") + TRAINING,
    }
    first = (
        f'dataset = "{graph}"\nmethod = "composed"\ntrained = "efol"\n'
        f'second_model = "{folder / "second.toml"}"\nsecond_model_weight = 0.4\n'
    )
    for name, words in {**runs, "first": first + SMALL.format(model="") + TRAINING}.items():
        (folder / f"{name}.toml").write_text(words)
    return folder


def train(folder: Path, out: Path, *settings: str, display: Display | None = None) -> Outcome:
    return train_run(read_run(folder / "first.toml", settings), out, device="cpu", display=display or toy.quiet())


def test_the_second_is_trained_after_the_first_and_both_are_judged_as_one(folder: Path, tmp_path: Path) -> None:
    shown, out = io.StringIO(), tmp_path / "run"
    outcome = train(folder, out, display=Display(Console(file=shown, width=200)))
    assert "second.toml: its points stand beside these" in shown.getvalue()
    assert find_checkpoint(out) == out / PAIR
    pair, facts = checkpoint.load_model(out / PAIR)
    assert isinstance(pair, Pair)
    assert (pair.config.weight, pair.config.denies, facts["method"]) == (0.4, False, "pair")
    alone = {place: checkpoint.read(place / "best.safetensors").weights() for place in (out, out / FOLDER)}
    both = torch.cat([weights["entities.weight"] for weights in alone.values()], dim=1)
    assert torch.equal(pair.entities.weight, both)
    measured = evaluate_run(out, device="cpu")
    assert measured.mrr == outcome.reports["best"].mrr
    first = evaluate_run(out / "best.safetensors", device="cpu")
    for name, scores in measured.scores.items():  # of what is denied the second knows nothing
        assert (scores.mrr == pytest.approx(first.scores[name].mrr, abs=1e-6)) == ("n" in name), name

    log, theirs = read_log(out / LOG), read_log(out / FOLDER / LOG)
    for line in theirs:  # it is trained and judged on its own structures alone
        assert not [name for name in line if name.startswith(("loss/", "valid/")) and name.endswith(("in", "pni"))]
    assert log[-1][FOLDER] == theirs[-1]["seconds"]
    assert log[-1]["seconds"] == pytest.approx(log[-2]["seconds"] + theirs[-1]["seconds"])
    record = make_record(out, run=str(folder / "first.toml"))
    assert record.seconds == round(log[-1]["seconds"], 1)
    assert (record.steps, record.minutes) == (12, None)
    assert record.curve[-1]["2p"] == round(100 * log[-1]["valid/2p"], 3)
    assert record.parameters == pair.sizes()["network"]
    assert json.loads((out / "test-best.json").read_text())["about"]["weights"].startswith("best, step ")

    train(folder, out)  # all is done
    assert read_log(out / LOG) == log
    start_anew(out)
    assert not list(out.rglob("*.safetensors"))


def test_a_cut_in_the_second_run_is_continued(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    longer = "second_model_settings=['training.steps=20']"
    train(folder, tmp_path / "whole", longer)
    cut = toy.interrupt(monkeypatch, {5, 17})  # one in each run
    outcomes = [train(folder, tmp_path / "cut", longer)]
    while not outcomes[-1].result.finished:
        assert not (tmp_path / "cut" / PAIR).exists()
        outcomes.append(train(folder, tmp_path / "cut", longer))
    assert not cut
    assert len(outcomes) == 3
    whole, again = (checkpoint.read(tmp_path / name / PAIR).tensors for name in ("whole", "cut"))
    assert whole.keys() == again.keys()
    assert all(torch.equal(whole[name], again[name]) for name in whole)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["second_model={}/elsewhere.toml"],
            r"elsewhere\.toml' is on .*other': it cannot stand beside a run on .*graph'",
        ),
        (
            ["second_model={}/gqe.toml"],
            "a run of the method composed can have one of the method pathformer",
        ),
        (["second_model={}/first.toml"], "these are composed and composed"),
        (
            ["second_model={}/ten.toml", "trained=epfo"],
            r"is trained on efol of drawn: beside a run on epfo of drawn it can",
        ),
        (
            ["second_model_settings=['queries=betae']"],
            r"is trained on epfo of betae: beside a run on efol of drawn it can",
        ),
        (
            ["second_model={}/flat.toml"],
            r"flat\.toml' is trained without negation in the space 'point', where no point says",
        ),
        (["second_model=none-such"], "second_model 'none-such': no run file 'none-such'"),
        (
            ["second_model_settings=['model.dim=15']"],
            r"second_model '.*second\.toml': model: dim 15 does not divide into 2 heads",
        ),
        (["second_model_settings=['steps=3']"], r"second_model '.*second\.toml': no setting 'steps'"),
    ],
)
def test_what_cannot_stand_beside_is_refused_before_anything_is_trained(
    folder: Path, tmp_path: Path, settings: list[str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        train(folder, tmp_path / "run", *(setting.format(folder) for setting in settings))
    assert not list(tmp_path.rglob("*.safetensors"))


def test_a_second_that_cannot_take_its_queries_is_refused_before_the_first_is_trained(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedQueryError, match="pathformer with these settings cannot take a negation"):
        train(
            folder, tmp_path / "run", f"second_model={folder / 'ten.toml'}", "second_model_settings=['model.space=box']"
        )
    assert not list(tmp_path.rglob("*.safetensors"))


def test_the_pair_of_nell995_is_the_run_of_ten_structures_and_one_from_nothing() -> None:
    pair, ten = read_run("fast-nell995-pair"), read_run("fast-nell995-efol")
    assert (pair.model_settings, pair.training, pair.start) == (ten.model_settings, ten.training, ten.start)
    other, scratch = second_run(pair), read_run("scratch-nell995")
    assert other is not None
    assert {**scratch.model_settings, "expected_variables": True} == other.model_settings
    assert replace(scratch.training, walk_from_answer=True, minutes=5.5, validations=1) == other.training
    links = read_run(pair.start).training.minutes
    assert (whole_minutes(pair) or 0.0) + (links or 0.0) <= 9.0  # of one card


def test_its_time_is_that_of_both(folder: Path) -> None:
    words = ["training.minutes=0.5", "second_model_settings=['training.minutes=1.5', 'training.seed=7']"]
    run = read_run(folder / "first.toml", words)
    other = second_run(run)
    assert other is not None
    assert other.training.seed == 7
    seeded = second_run(read_run(folder / "first.toml", ["training.seed=5"]))
    assert seeded is not None
    assert seeded.training.seed == 5
    assert whole_minutes(run) == 2.0
    assert whole_minutes(read_run(folder / "first.toml", words[:1])) is None
    assert whole_minutes(read_run(folder / "second.toml", words[:1])) == 0.5
    assert second_run(read_run(folder / "second.toml")) is None
    for weight in ("0.0", "-1.0", "nan", "inf"):
        with pytest.raises(ConfigError, match=r"second_model_weight must be a positive finite number"):
            read_run(folder / "first.toml", [f"second_model_weight={weight}"])
