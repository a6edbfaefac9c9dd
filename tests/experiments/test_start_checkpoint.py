"""Runs that start from a link predictor, and runs that draw fresh queries, from a run file on."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
import torch
from rich.console import Console
from support import training_toy as toy

from pathformer.errors import CheckpointError, ConfigError
from pathformer.experiments.records import seconds_before
from pathformer.experiments.run import Outcome, start_anew, train_run
from pathformer.experiments.settings import read_run
from pathformer.models.complex import ComplEx
from pathformer.training import checkpoint
from pathformer.training.display import Display

LINKS = """
dataset = "{graph}"
queries = "drawn"
method = "complex"
trained = "links"
model.rank = 8
training = {{ steps = 30, batch = 32, validations = 2, update_per_structure = false, update = {{ rate = 0.03 }} }}
"""
SETTINGS = [
    "queries=drawn",
    "model.dim=16",
    "model.layers=1",
    "model.heads=2",
    "training.batch=16",
    "training.steps=12",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    for name, seed in (("graph", 0), ("other", 1)):
        toy.save_graph(folder / name, seed)
    (folder / "links.toml").write_text(LINKS.format(graph=folder / "graph"))
    return folder


def train(folder: Path, out: Path, *settings: str, display: Display | None = None) -> Outcome:
    run = read_run(None, [f"dataset={folder / 'graph'}", *SETTINGS, *settings])
    return train_run(run, out, device="cpu", test=False, display=display or toy.quiet())


def tables(path: Path) -> torch.Tensor:
    return checkpoint.read(path).part("model")["entities.weight"]


def test_a_link_predictor_is_trained_first_and_its_tables_taken_over(folder: Path, tmp_path: Path) -> None:
    shown = io.StringIO()
    frozen = [f"start={folder / 'links.toml'}", "training.update.table_rate=0.0"]
    outcome = train(folder, tmp_path / "run", *frozen, display=Display(Console(file=shown, width=200)))
    assert outcome.result.finished
    assert re.search(r"first .*links\.toml: the tables start from what it learns", shown.getvalue())
    first, facts = checkpoint.load_model(tmp_path / "run/start/last.safetensors")
    assert isinstance(first, ComplEx)
    assert facts["trained"] == facts["evaluated"] == ["1p"]
    theirs, ours = first.entities.weight.detach(), tables(tmp_path / "run/last.safetensors")
    unit = [torch.nn.functional.normalize(rows, dim=1) for rows in (theirs, ours)]
    torch.testing.assert_close(unit[0] @ unit[0].t(), unit[1] @ unit[1].t(), rtol=1e-3, atol=1e-3)

    best = tmp_path / "run/start/best.safetensors"
    kept = best.read_bytes()
    best.write_bytes(b"")  # not read: the last weights are meant
    again = train(folder, tmp_path / "again", f"start={tmp_path / 'run/start'}", "training.update.table_rate=0.0")
    assert again.result.finished
    assert torch.equal(tables(tmp_path / "again/last.safetensors"), ours)
    assert not (tmp_path / "again/start").exists()

    (tmp_path / "run/start/last.safetensors").rename(tmp_path / "one.safetensors")
    best.write_bytes(kept)  # taken where there are no last ones
    for place, start in (("file", tmp_path / "one.safetensors"), ("best", tmp_path / "run/start")):
        assert train(folder, tmp_path / place, f"start={start}", "training.update.table_rate=0.0").result.finished
    assert torch.equal(tables(tmp_path / "file/last.safetensors"), ours)
    (tmp_path / "engine.json").touch()
    with pytest.raises(CheckpointError, match="is an engine, not a run of `pathformer train`"):
        train(folder, tmp_path / "none", f"start={tmp_path}")

    start_anew(tmp_path / "run")
    assert not list((tmp_path / "run").rglob("*.safetensors"))


def test_what_is_trained_first_may_have_a_time_of_its_own(folder: Path, tmp_path: Path) -> None:
    links = f"start={folder / 'links.toml'}"
    train(folder, tmp_path / "run", links, "start_minutes=0.01")
    first, own = (checkpoint.read_facts(tmp_path / part / "last.safetensors") for part in ("run/start", "run"))
    assert first["settings"]["training"]["minutes"] == 0.01
    assert own["settings"]["training"]["minutes"] is None
    with pytest.raises(ConfigError, match=r"start_minutes is for a run that is trained first; .*start is trained"):
        train(folder, tmp_path / "again", f"start={tmp_path / 'run/start'}", "start_minutes=0.01")


def test_how_long_it_took_is_known_where_it_is_not_to_be_found(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(folder, tmp_path / "links", f"start={folder / 'links.toml'}")
    monkeypatch.chdir(tmp_path)
    train(folder, tmp_path / "run", "start=links/start")
    (tmp_path / "elsewhere").mkdir()
    took = checkpoint.read_facts(tmp_path / "links/start/last.safetensors")["seconds"]
    for place in ("elsewhere", "."):
        monkeypatch.chdir(tmp_path / place)
        assert seconds_before(tmp_path / "run", "links/start") == round(took, 1)
    monkeypatch.chdir(tmp_path / "elsewhere")
    train(folder, tmp_path / "plain")
    assert seconds_before(tmp_path / "none", "links/start") is None
    assert checkpoint.read_facts(tmp_path / "plain/last.safetensors")["seconds_before"] == 0.0


def test_one_whose_rows_are_to_be_kept_is_as_wide_as_the_model(folder: Path, tmp_path: Path) -> None:
    kept = ["model.dim=8", "model.space=hermitian", "training.update.table_rate=0.0"]
    links, told = (
        f"start={folder / 'links.toml'}",
        r"is 16 numbers wide, twice its rank, and model\.dim is 8: .*rank=4 ",
    )
    with pytest.raises(ConfigError, match=told):
        train(folder, tmp_path / "run", links, *kept)
    assert not (tmp_path / "run/start").exists()
    assert train(folder, tmp_path / "moved", links, *kept[:2]).result.finished  # tables that move learn again
    with pytest.raises(ConfigError, match=told):
        train(folder, tmp_path / "again", f"start={tmp_path / 'moved/start'}", *kept)


def test_another_graph_is_no_start(folder: Path, tmp_path: Path) -> None:
    other = LINKS.format(graph=folder / "other")
    (tmp_path / "other.toml").write_text(other)
    with pytest.raises(
        ConfigError, match=r"a run on '.*graph' cannot start from '.*other\.toml', which is on '.*other'"
    ):
        train(folder, tmp_path / "run", f"start={tmp_path / 'other.toml'}")
    train_run(read_run(tmp_path / "other.toml"), tmp_path / "links", device="cpu", test=False, display=toy.quiet())
    with pytest.raises(CheckpointError, match="was trained on another graph"):
        train(folder, tmp_path / "run", f"start={tmp_path / 'links'}")


def test_fresh_queries_are_drawn_from_the_train_graph_by_seed_and_number(folder: Path, tmp_path: Path) -> None:
    fixed, one, two = (tmp_path / name for name in ("fixed", "one", "two"))
    train(folder, fixed)
    train(folder, one, "training.redraw_every=4")
    train(folder, two, "training.redraw_every=4")
    assert torch.equal(tables(one / "last.safetensors"), tables(two / "last.safetensors"))
    assert not torch.equal(tables(one / "last.safetensors"), tables(fixed / "last.safetensors"))


def test_links_are_one_structure() -> None:
    run = read_run("complex-nell995")
    assert (run.method, run.trained_structures, run.evaluated_structures) == ("complex", ("1p",), ("1p",))
