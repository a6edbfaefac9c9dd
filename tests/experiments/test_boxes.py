"""Runs back to back in boxes of time: kept at once, cut and continued, and one that fails does not stop the others."""

from __future__ import annotations

import io
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import training_toy as toy
from rich.console import Console

from pathformer.errors import ConfigError, InputError
from pathformer.experiments import box as one_box
from pathformer.experiments import boxes
from pathformer.experiments.boxes import Box, fill
from pathformer.experiments.keep import record_of, run_of
from pathformer.experiments.records import Record, read_records
from pathformer.experiments.settings import read_run
from pathformer.experiments.shelf import Shelf
from pathformer.query.structures import EPFO, EPFO_TRAINED, NEGATION_STRUCTURES
from pathformer.training import checkpoint
from pathformer.training.display import Display
from pathformer.training.step import TrainingStep


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph, and run files of GQE, Query2box and MLP over it."""
    path = tmp_path_factory.mktemp("boxes")
    toy.save_graph(path / "graph")
    for method, trained in (("gqe", "epfo"), ("q2b", "epfo"), ("mlp", "efol")):
        toy.save_run(path / f"{method}.toml", path / "graph", method, trained)
    return path


@pytest.fixture
def quiet() -> Display:
    return toy.quiet()


class Ringing(Display):
    """Lets the alarm ring at the first look at the losses: no clock decides when a run is cut."""

    def update(self, **_: object) -> None:
        signal.raise_signal(signal.SIGALRM)


def box(folder: Path, method: str, *settings: str, minutes: float = 5.0, **more: object) -> Box:
    """Ends by its steps, whatever the machine's load, unless told otherwise."""
    own = ("training.steps=3", *settings)
    return Box(run=str(folder / f"{method}.toml"), minutes=minutes, settings=own, **more)  # type: ignore[arg-type]


def test_runs_leave_records_and_no_weights(folder: Path, tmp_path: Path, quiet: Display) -> None:
    asked = [box(folder, "gqe"), box(folder, "mlp", "training.batch=16", variant="wide")]
    filled = fill(asked, tmp_path / "out", tmp_path / "work", device="cpu", display=quiet, commit="abc", others=2)
    assert (filled.left, filled.failed) == ([], {})
    records = read_records([tmp_path / "out"])
    assert [record.file_name for record in records] == ["gqe@5min.json", "mlp@5min-wide.json"]
    assert [record.beside for record in records] == [3, 3]
    gqe, mlp = records
    assert set(gqe.mrr) == {"last", "best"}
    assert set(gqe.mrr["last"]) == set(EPFO)
    assert set(mlp.mrr["last"]) == {*EPFO, *NEGATION_STRUCTURES}
    assert (gqe.queries, gqe.commit, gqe.minutes) == ("drawn by the protocol, seed 0", "abc", 5.0)
    assert gqe.trained_on == "1p 2p 3p 2i 3i: drawn by the protocol, seed 0"
    assert gqe.steps == gqe.weights["last"] == 3
    assert gqe.machine["device"] == gqe.machine["cpu"]
    assert mlp.changes["training.batch"] == 16
    assert "training.minutes" not in mlp.changes
    assert mlp.settings["training.minutes"] == 5.0
    assert not list((tmp_path / "work").glob("*/*.safetensors"))


class Card:
    """Says that it is one, and computes on the processor."""

    type = "cuda"

    def __str__(self) -> str:
        return "cpu"


class RankedError(Exception):
    """What a test waits for: the run is over."""


def test_on_a_card_every_update_is_one_of_the_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop holds the clock while kernels are compiled: nothing is compiled on updates that are thrown away."""
    made: list[int] = []
    update = TrainingStep.update

    def counted(step: TrainingStep) -> None:
        made.append(step.updates)
        update(step)

    def ranked(*_: object, **__: object) -> None:
        raise RankedError

    monkeypatch.setattr(TrainingStep, "update", counted)
    monkeypatch.setattr(TrainingStep, "cold", property(lambda step: max(0, 2 - step.updates)))
    monkeypatch.setattr(one_box, "choose_device", lambda _: Card())
    monkeypatch.setattr(one_box, "record_of", ranked)
    asked, said = box(folder, "gqe"), io.StringIO()
    terms = one_box.Terms(out=tmp_path / "out", work=tmp_path / "work")
    with pytest.raises(RankedError):
        one_box.run_box(asked, Shelf(asked.runs()), terms, Display(Console(file=said, width=1000)))
    assert made == [step for step in range(3) for _ in EPFO_TRAINED]
    assert re.search(r"kernels compiled in \d+ s, before the clock started\n", said.getvalue())


def test_a_run_that_fails_is_told_and_the_next_one_runs(
    folder: Path, tmp_path: Path, quiet: Display, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = one_box.train_run

    def sometimes(run, *arguments, **options):  # type: ignore[no-untyped-def]
        if run.method == "gqe":
            raise RuntimeError("out of memory")
        return real(run, *arguments, **options)

    monkeypatch.setattr(one_box, "train_run", sometimes)
    asked = [box(folder, "gqe"), box(folder, "q2b")]
    filled = fill(asked, tmp_path / "out", tmp_path / "work", device="cpu", display=quiet)
    assert filled.failed == {"gqe@5min": "RuntimeError: out of memory"}
    assert [record.run for record in filled.done] == ["q2b"]
    assert filled.left == []


def test_what_is_cut_goes_on(folder: Path, tmp_path: Path, quiet: Display) -> None:
    asked = [box(folder, "gqe", "training.steps=40"), box(folder, "q2b")]
    ringing = Ringing(Console(file=io.StringIO()))
    cut = fill(asked, tmp_path / "out", tmp_path / "work", seconds=1000.0, device="cpu", display=ringing, others=2)
    assert ([b.run for b in cut.left], cut.done) == ([b.run for b in asked], [])
    stood = checkpoint.read_facts(tmp_path / "work" / asked[0].name / "last.safetensors")["step"]
    assert 0 < stood < 40
    said = io.StringIO()
    rest = fill(cut.left, tmp_path / "out", tmp_path / "work", device="cpu", display=Display(Console(file=said)))
    assert [(record.run, record.steps) for record in rest.done] == [("gqe", 40), ("q2b", 3)]
    assert [record.beside for record in rest.done] == [3, 1]  # at most, in whichever call
    assert not list((tmp_path / "work").glob("*/beside"))
    assert f"continues at step {stood}" in " ".join(said.getvalue().split())


def _endless(*_: object, **__: object) -> None:
    """Something that is not training, in short sleeps: a signal that another thread has taken ends none."""
    for _ in range(600):
        time.sleep(0.05)
    pytest.fail("nothing has stopped it for half a minute")


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler])
def test_the_alarm_stops_what_is_not_training_too(
    folder: Path, tmp_path: Path, quiet: Display, monkeypatch: pytest.MonkeyPatch, handler: Any
) -> None:
    monkeypatch.setattr(boxes, "GRACE", 0.0)
    monkeypatch.setattr(one_box, "train_run", _endless)
    before = signal.signal(signal.SIGINT, handler)
    try:
        cut = fill([box(folder, "gqe")], tmp_path, tmp_path, seconds=0.3, device="cpu", display=quiet)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(cut.left) == 1


def test_with_whole_none_is_started_that_would_be_cut(folder: Path, tmp_path: Path, quiet: Display) -> None:
    asked = [box(folder, "gqe", minutes=5.0)]
    filled = fill(asked, tmp_path / "out", tmp_path / "work", seconds=60.0, whole=True, device="cpu", display=quiet)
    assert filled.left == asked
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(("jobs", "others", "beside"), [(10, 0, 3), (2, 0, 2), (2, 4, 6), (10, 1, 4)])
def test_no_more_are_counted_than_there_are(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, others: int, beside: int
) -> None:
    """The last three rows of many were called the share of ten."""
    told: list[one_box.Terms] = []
    monkeypatch.setattr(boxes, "fill_side", lambda _, __, terms, **___: told.append(terms))
    fill([box(folder, method) for method in ("gqe", "q2b", "mlp")], tmp_path, tmp_path, jobs=jobs, others=others)
    assert [(terms.jobs, terms.beside) for terms in told] == [(jobs, beside)]


def test_the_same_weights_serve_another_query_set(folder: Path, tmp_path: Path, quiet: Display) -> None:
    (tmp_path / "gqe-again.toml").write_text((folder / "gqe.toml").read_text())
    asked = [box(folder, "gqe", also=(str(tmp_path / "gqe-again.toml"),))]
    fill(asked, tmp_path / "out", tmp_path / "work", device="cpu", display=quiet)
    again, own = read_records([tmp_path / "out"])
    assert (again.run, own.run) == ("gqe-again", "gqe")
    assert again.mrr == own.mrr
    assert "weights of gqe@5min" in again.note
    with pytest.raises(ConfigError, match=r"mlp\.toml does not train as .*gqe\.toml does: its weights are others"):
        fill([box(folder, "gqe", also=(str(folder / "mlp.toml"),))], tmp_path, tmp_path, display=quiet)


@pytest.mark.parametrize("line", ['start = "complex-umls"', "start_minutes = 2.0", "start_members = 2"])
def test_weights_that_start_elsewhere_do_not_serve_it(folder: Path, tmp_path: Path, line: str) -> None:
    other = tmp_path / "other.toml"
    other.write_text(f"{(folder / 'gqe.toml').read_text()}{line}\n")
    with pytest.raises(ConfigError, match=r"other\.toml does not train as .*gqe\.toml does"):
        box(folder, "gqe", also=(str(other),)).runs()


def test_material_is_read_once_and_cut_to_size(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [read_run(folder / f"{method}.toml") for method in ("gqe", "q2b", "mlp")]
    shelf = Shelf(runs)
    materials = [shelf.material(run) for run in runs]
    assert materials[0].kg is materials[2].kg
    assert materials[0].sets["train"]["2i"] is materials[2].sets["train"]["2i"]
    assert tuple(materials[0].sets["train"]) == EPFO_TRAINED
    assert tuple(materials[2].sets["test"]) == (*EPFO, *NEGATION_STRUCTURES)
    assert not any("2in" in part for part in materials[0].sets.origin)


def test_a_folder_of_train_becomes_a_record(folder: Path, tmp_path: Path, quiet: Display) -> None:
    fill([box(folder, "gqe")], tmp_path / "out", tmp_path / "work", device="cpu", display=quiet, keep=True)
    work = tmp_path / "work" / "gqe@5min"
    again, kept = record_of(work, run=str(folder / "gqe.toml")), Record.read(tmp_path / "out" / "gqe@5min.json")
    assert again.mrr == kept.mrr
    assert (again.machine, again.commit) == (kept.machine, kept.commit)  # its checkpoint says where it ran
    assert again.waited is None  # it takes no fresh queries
    with (work / "log.jsonl").open("a") as log:
        log.write('{"step": 1, "seconds": 1.0, "waited": 1.5}\n{"step": 2, "seconds": 2.0, "waited": 0.26}\n')
    waited = record_of(work, run=str(folder / "gqe.toml"))
    assert waited.waited == 1.8
    assert one_box.summary(waited).endswith(", 1.8 s of waiting for queries")
    with pytest.raises(InputError, match=r"no run file is of .*: name it"):
        record_of(work)
    (work / "log.jsonl").unlink()
    with pytest.raises(InputError, match=r"no log\.jsonl, or nothing in it: what the run took is not known"):
        record_of(work, run=str(folder / "gqe.toml"))
    for name in ("nell995-efol-cone", "fast-fb15k-237-efol", "fb15k-237-layers-2"):
        assert run_of(read_run(name, ["training.minutes=3"])) == name


def test_a_box_that_is_over_at_once_still_leaves_a_record(folder: Path, tmp_path: Path, quiet: Display) -> None:
    filled = fill([box(folder, "gqe", minutes=1e-9)], tmp_path / "out", tmp_path / "work", device="cpu", display=quiet)
    assert (filled.failed, [record.steps for record in filled.done]) == ({}, [0])
