"""Rows side by side, each a fork of one process: a fresh one, as forks must not inherit what other tests computed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import training_toy as toy

from pathformer.errors import InputError
from pathformer.experiments import side
from pathformer.experiments.box import Box, Terms
from pathformer.experiments.records import Record, read_records
from pathformer.experiments.shelf import Shelf
from pathformer.experiments.side import fill_side
from pathformer.experiments.standing import standing

DRIVER = r"""
import io, json, os, signal, sys, time
from pathlib import Path
import torch
from rich.console import Console
from pathformer.experiments import boxes, side
from pathformer.experiments.boxes import Box, fill
from pathformer.training.display import Display

folder, real, asked = Path(sys.argv[1]), side.run_box, sys.argv[1] + "/asked"
torch.set_num_threads(1)
torch.cuda.is_available = lambda: bool(os.write(os.open(asked, 1089), f"{os.getpid()} ".encode())) and False

def box(method, steps):
    return Box(run=str(folder / f"{method}.toml"), minutes=5.0, settings=(f"training.steps={steps}",))

def scene(name, asked, **options):
    said, begun = io.StringIO(), time.monotonic()
    display, place = Display(Console(file=said, width=300)), folder / name
    filled = fill(asked, place, place / "work", display=display, commit="abc", jobs=2, **options)
    return {
        "done": [[r.run, r.steps, r.beside] for r in filled.done],
        "left": [b.name for b in filled.left],
        "failed": filled.failed,
        "said": said.getvalue(),
        "seconds": time.monotonic() - begun,
    }

def fails(one, shelf, terms, display):
    if one.name.startswith("q2b"):
        raise RuntimeError("out of memory")
    if one.name.startswith("mlp"):
        os._exit(7)
    return real(one, shelf, terms, display)

side.run_box, side._TELL = fails, 0.0
found = {"mixed": scene("mixed", [box(m, 3) for m in ("gqe", "q2b", "mlp", "lost", "gqe-too")], others=3)}
found["parent"], found["asked"] = os.getpid(), Path(asked).read_text()

def stubborn(one, *_):
    for _ in range(60):
        try:
            time.sleep(1)
        except KeyboardInterrupt:
            pass

def wordy(one, *_):
    raise RuntimeError("no " * 10**5 + "end")

side.run_box = wordy
found["wordy"] = scene("wordy", [box("gqe", 3)], seconds=60.0, device="cpu")

side.run_box, side._END, side.GRACE = stubborn, 1.0, 0.0
read, side._Side._read = side._Side._read, lambda self, one: True  # on a busy machine reading alone takes the second
found["late"] = scene("late", [box("gqe", 3)], seconds=5.0, device="cpu")
side._Side._read = read

def trains(method):
    log = folder / "cut/work" / f"{method}@5min" / "log.jsonl"
    return log.is_file() and log.stat().st_size > 0  # an update is logged: Ctrl-C is asked for, no longer raised

def stop_when_both_train(self):
    if trains("gqe") and trains("q2b"):
        os.kill(os.getpid(), signal.SIGINT)

side.run_box, side._Side._watch = real, stop_when_both_train
found["cut"] = scene("cut", [box(m, 10**6) for m in ("gqe", "q2b", "mlp")], device="cpu")
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph and run files over it; one of a dataset that is not there."""
    path = tmp_path_factory.mktemp("side")
    toy.save_graph(path / "graph")
    for method in ("gqe", "q2b", "mlp"):
        toy.save_run(path / f"{method}.toml", path / "graph", method)
    toy.save_run(path / "lost.toml", path / "nowhere", "gqe")
    (path / "gqe-too.toml").write_text((path / "gqe.toml").read_text())
    return path


@pytest.fixture(scope="module")
def scenes(folder: Path) -> dict[str, Any]:
    """What came of three calls, in one process that has done nothing else."""
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", DRIVER, str(folder)]
    path = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=path, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_rows_that_fail_or_crash_are_told_and_the_others_leave_records(scenes: dict[str, Any], folder: Path) -> None:
    mixed = scenes["mixed"]
    assert sorted(mixed["done"]) == [["gqe", 3, 5], ["gqe-too", 3, 5]]
    assert mixed["left"] == []
    lost = mixed["failed"].pop("lost@5min")
    assert lost.startswith("DatasetError: ")
    assert mixed["failed"] == {
        "q2b@5min": "RuntimeError: out of memory",
        "mlp@5min": "ended with exit status 7",
    }
    assert Record.read(folder / "mixed" / "gqe@5min.json").beside == 5
    assert "out of memory" in (folder / "mixed" / "work" / "q2b@5min.log").read_text()
    assert not list((folder / "mixed" / "work").glob("*/*.safetensors"))


def test_what_rows_say_is_in_their_logs_and_where_they_stand_is_told(scenes: dict[str, Any], folder: Path) -> None:
    said = scenes["mixed"]["said"]
    assert "no MPS: there is no nvidia-cuda-mps-control; rows take turns on the device" in said
    assert "  gqe@5min: " in said
    assert "40 entities" not in said
    assert "40 entities" in (folder / "mixed" / "work" / "gqe@5min.log").read_text()


def test_the_process_that_starts_rows_never_asks_for_a_device(scenes: dict[str, Any]) -> None:
    asked = set(map(int, scenes["asked"].split()))
    assert len(asked) == 2  # the rows that came so far
    assert scenes["parent"] not in asked


def test_a_row_that_does_not_stop_is_killed_before_the_time_is_up(scenes: dict[str, Any]) -> None:
    late = scenes["late"]
    assert (late["done"], late["failed"], late["left"]) == ([], {}, ["gqe@5min"])
    assert 3.5 < late["seconds"] < 7.5


def test_an_error_of_many_words_is_told_in_part_and_logged_whole(scenes: dict[str, Any], folder: Path) -> None:
    words = scenes["wordy"]["failed"]["gqe@5min"]
    assert words.startswith("RuntimeError: no no no ")
    assert len(words) == 4000
    assert "no no end" in (folder / "wordy" / "work" / "gqe@5min.log").read_text()


def test_ctrl_c_saves_all_rows(scenes: dict[str, Any], folder: Path) -> None:
    cut = scenes["cut"]
    assert (cut["done"], cut["failed"], cut["left"]) == ([], {}, ["gqe@5min", "q2b@5min", "mlp@5min"])
    assert "gqe@5min: cut, and saved" in cut["said"]
    assert "stopped; the same command goes on" in cut["said"]
    for method in ("gqe", "q2b"):
        assert (folder / "cut" / "work" / f"{method}@5min" / "last.safetensors").is_file()
    assert not (folder / "cut" / "work" / "mlp@5min").exists()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_rows_share_a_card(folder: Path, tmp_path: Path) -> None:
    script = str(Path(__file__).parents[2] / "benchmarks" / "boxes.py")
    rows = [f"{folder / method}.toml,model.dim=32,training.steps=20" for method in ("gqe", "q2b", "mlp")]
    command = [sys.executable, script, "5", str(tmp_path), *rows, "--jobs", "3", "--commit", "abc"]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    records = read_records([tmp_path])
    assert [(record.run, record.steps, record.beside) for record in records] == [
        ("gqe", 20, 3),
        ("mlp", 20, 3),
        ("q2b", 20, 3),
    ]
    assert {record.machine["device"] for record in records} == {torch.cuda.get_device_name()}


def test_a_process_with_an_open_device_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    terms = Terms(out=tmp_path, work=tmp_path, jobs=2)
    with pytest.raises(InputError, match="by a process that has not used a CUDA device"):
        fill_side([], Shelf([]), terms)


def test_as_many_rows_run_at_a_time_as_there_are_jobs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes of others were counted as room for rows of ours."""
    boxes = [Box(run=str(folder / f"{method}.toml"), minutes=5.0) for method in ("gqe", "q2b", "mlp")]
    terms = Terms(out=tmp_path, work=tmp_path, device="cpu", jobs=2, beside=5)
    queue = side._Side(boxes, Shelf([]), terms, None, False, toy.quiet(), None)
    monkeypatch.setattr(side._Side, "_read", lambda *_: True)
    monkeypatch.setattr(side._Side, "_fork", lambda _, box: box)
    assert queue._start()
    assert (queue.running, queue.waiting) == (boxes[:2], boxes[2:])


def test_with_whole_none_is_started_that_would_be_cut(folder: Path, tmp_path: Path) -> None:
    box = Box(run=str(folder / "gqe.toml"), minutes=5.0)
    terms = Terms(out=tmp_path, work=tmp_path / "work", device="cpu", jobs=2)
    filled = fill_side([box], Shelf(box.runs()), terms, deadline=time.monotonic() + 120.0, whole=True)
    assert filled.left == [box]
    assert not (tmp_path / "work").exists()


def test_where_a_run_stands_is_read_from_its_log(tmp_path: Path) -> None:
    assert standing(tmp_path) == "getting ready"
    log = tmp_path / "log.jsonl"
    log.write_text('{"step": 1200, "seconds": 61.0, "queries_per_second": 88000.4}\n')
    assert standing(tmp_path) == "step 1,200 after 1:01 min, 88,000 queries/s"
    log.write_text(log.read_text() + '{"step": 1300, "seconds": 62.0, "valid/mrr": 0.1234}\n{"step": 14')
    assert standing(tmp_path) == "step 1,300 after 1:02 min, 88,000 queries/s, validation MRR 12.34"
