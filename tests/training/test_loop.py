"""The loop: it learns, it stops, it goes on where it stopped, and it never overwrites what was good."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from support import training_toy as toy

from pathformer.errors import DivergedError, InputError
from pathformer.training import checkpoint, loop
from pathformer.training.display import Display
from pathformer.training.loop import train
from pathformer.training.settings import StepConfig, Training
from pathformer.training.step import TrainingStep


def same(a: Path, b: Path) -> bool:
    """Whether two checkpoints hold the same bits and facts, times apart."""
    one, other = checkpoint.read(a), checkpoint.read(b)
    facts = [{k: v for k, v in c.facts.items() if k != "seconds"} for c in (one, other)]
    return (
        facts[0] == facts[1]
        and one.tensors.keys() == other.tensors.keys()
        and all(torch.equal(one.tensors[name], other.tensors[name]) for name in one.tensors)
    )


def figures(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_a_run_learns_and_leaves_its_files(tmp_path: Path) -> None:
    result = toy.run(tmp_path, toy.quiet(), steps=60, validations=3, update=StepConfig(rate=1e-2))
    assert (result.finished, result.step) == (True, 60)
    assert {p.name for p in tmp_path.iterdir()} >= {"last.safetensors", "best.safetensors", "log.jsonl"}
    lines = figures(tmp_path)
    losses = [line["loss"] for line in lines if "loss" in line]
    assert losses[-1] < 0.7 * losses[0]
    valid = [line for line in lines if "valid/mrr" in line]
    assert [line["step"] for line in valid] == [20, 40, 60]
    assert set(valid[0]) == {"step", "seconds", "valid/mrr", "valid/1p", "valid/2i", "valid/2in"}
    assert result.best_mrr == max(line["valid/mrr"] for line in valid)
    best = checkpoint.read(tmp_path / "best.safetensors")
    assert best.facts["valid_mrr"] == result.best_mrr
    assert best.facts["fingerprint"] == "toy-1"
    assert all(name.startswith("model.") for name in best.tensors)


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    toy.run(tmp_path, toy.quiet())
    before = {p: p.stat().st_mtime_ns for p in tmp_path.glob("*.safetensors")}
    said = io.StringIO()
    again = toy.run(tmp_path, Display(Console(file=said, width=1000)))
    assert again.finished
    assert said.getvalue() == f"{tmp_path} had finished, at step {again.step}: nothing is left to train\n"
    assert {p: p.stat().st_mtime_ns for p in tmp_path.glob("*.safetensors")} == before


def test_equal_seeds_give_equal_bits_and_others_do_not(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        toy.run(tmp_path / name, toy.quiet(), seed=seed)
    assert same(tmp_path / "a/last.safetensors", tmp_path / "b/last.safetensors")
    assert not same(tmp_path / "a/last.safetensors", tmp_path / "c/last.safetensors")


def test_freed_memory_is_kept_while_a_processor_trains_and_changes_no_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.run(tmp_path / "kept", toy.quiet())
    told: list[str] = []

    @contextmanager
    def instead() -> Iterator[None]:
        told.append("begun")
        yield
        told.append(f"ended after {(tmp_path / 'given back/last.safetensors').is_file()}")

    monkeypatch.setattr(loop, "keep_freed_memory", instead)
    toy.run(tmp_path / "given back", toy.quiet())
    assert told == ["begun", "ended after True"]
    for name in ("last", "best"):
        assert same(tmp_path / f"kept/{name}.safetensors", tmp_path / f"given back/{name}.safetensors")
    with loop._freed_memory(torch.device("cuda")):
        assert len(told) == 2  # a card has its own


@pytest.mark.parametrize(("schedule", "turns"), [("reference", False), ("cosine", False), ("reference", True)])
def test_an_interrupted_run_continues_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schedule: str, turns: bool
) -> None:
    toy.run(tmp_path / "whole", toy.quiet(), schedule=schedule, warmup=0.1, update_per_structure=turns)
    # At the full rate, beside a validation, between the drops of the rate, beside one.
    toy.interrupt(monkeypatch, {3, 11, 12, 16, 19})
    stops = []
    for _ in range(9):
        result = toy.run(tmp_path / "cut", toy.quiet(), schedule=schedule, warmup=0.1, update_per_structure=turns)
        if result.finished:
            break
        stops.append(result.step)
    assert len(stops) == 5
    for name in ("last", "best"):
        assert same(tmp_path / f"whole/{name}.safetensors", tmp_path / f"cut/{name}.safetensors")
    valid = [[line for line in figures(tmp_path / f) if "valid/mrr" in line] for f in ("whole", "cut")]
    assert [{**line, "seconds": 0} for line in valid[0]] == [{**line, "seconds": 0} for line in valid[1]]


def test_a_killed_run_continues_to_the_same_bits(tmp_path: Path) -> None:
    steps = 200
    toy.run(tmp_path / "whole", toy.quiet(), steps=steps)
    path = tmp_path / "cut/last.safetensors"
    process = subprocess.Popen(
        [sys.executable, toy.__file__, str(tmp_path / "cut"), str(steps)], stderr=subprocess.DEVNULL
    )
    while not path.exists() or checkpoint.read_facts(path)["step"] < 20:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGSTOP)  # it must not end before it is killed, however busy the machine is
    held = rf"^process {process.pid} on .* is writing to .*cut: wait for it, or choose"
    try:
        with pytest.raises(InputError, match=held):
            toy.run(tmp_path / "cut", toy.quiet(), steps=steps)
    finally:
        process.kill()
        process.wait()
    assert 20 <= checkpoint.read_facts(path)["step"] < steps
    assert toy.run(tmp_path / "cut", toy.quiet(), steps=steps).finished
    for name in ("last", "best"):
        assert same(tmp_path / f"whole/{name}.safetensors", tmp_path / f"cut/{name}.safetensors")


def test_a_run_killed_between_its_last_update_and_its_last_validation_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"steps": 20, "validations": 2, "save_minutes": 0.0}
    toy.run(tmp_path / "whole", toy.quiet(), **settings)

    def killed(*_: object, **__: object) -> None:
        raise MemoryError

    for method, logged in (("pause", [10]), ("save", [10, 20])):  # before that validation, and between it and its save
        with monkeypatch.context() as patch:
            patch.setattr(loop._Run, method, killed)
            with pytest.raises(MemoryError):
                toy.run(tmp_path / "cut", toy.quiet(), **settings)
        assert [line["step"] for line in figures(tmp_path / "cut") if "valid/mrr" in line] == logged
    left = checkpoint.read_facts(tmp_path / "cut/last.safetensors")
    assert (left["step"], left["validated"]) == (20, 1)  # saved for the time that had gone by
    said = io.StringIO()
    again = toy.run(tmp_path / "cut", Display(Console(file=said, width=1000)), **settings)
    assert again.finished
    assert f"continues at step 20 of {tmp_path / 'cut'}" in said.getvalue()
    for name in ("last", "best"):
        assert same(tmp_path / f"whole/{name}.safetensors", tmp_path / f"cut/{name}.safetensors")
    steps = [line["step"] for line in figures(tmp_path / "cut") if "valid/mrr" in line]
    assert steps == [10, 20]


def test_a_validation_that_no_save_knows_of_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a box of time one may fall due at a step that is saved already, and a kill may come before the next save."""
    toy.interrupt(monkeypatch, {12})
    toy.run(tmp_path, toy.quiet(), validations=2)
    saved = checkpoint.read(tmp_path / "last.safetensors")
    assert (saved.facts["step"], saved.facts["ranked"]) == (12, 12)
    before = {**saved.facts, "ranked": -1, "validated": 0, "best": None}
    checkpoint.write(tmp_path / "last.safetensors", before, saved.tensors)
    assert toy.run(tmp_path, toy.quiet(), validations=2).finished
    assert [line["step"] for line in figures(tmp_path) if "valid/mrr" in line] == [12, 24]


def test_the_rate_follows_the_reference_and_moments_start_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates, resets = [], []
    update = TrainingStep.update

    def watched(self: TrainingStep) -> None:
        if self.updates and int(self.adam.steps) == 0:
            resets.append(self.updates)
        update(self)
        rates.append(float(self.adam._rate))

    monkeypatch.setattr(TrainingStep, "update", watched)
    toy.run(tmp_path, toy.quiet(), steps=20, update=StepConfig(rate=1e-2))
    assert rates == pytest.approx([1e-2] * 11 + [2e-3] * 5 + [4e-4] * 4)
    assert resets == [11, 16]


def test_a_time_box_ends_in_time_with_its_rate_at_the_bottom(tmp_path: Path) -> None:
    start = time.monotonic()
    result = toy.run(tmp_path, toy.quiet(), steps=10**9, minutes=0.05, validations=2)
    assert result.finished
    assert 3.0 <= time.monotonic() - start < 8.0
    rates = [line["rate"] for line in figures(tmp_path) if "rate" in line]
    assert rates[0] == pytest.approx(1e-4)
    assert rates[-1] == pytest.approx(1e-4 / 25)
    assert len([line for line in figures(tmp_path) if "valid/mrr" in line]) == 2


def test_a_loss_that_is_no_number_stops_with_step_structure_and_advice(tmp_path: Path) -> None:
    toy.run(tmp_path, toy.quiet(), steps=8, validations=1)
    files = {p.name: p.read_bytes() for p in tmp_path.glob("*.safetensors")}
    saved = checkpoint.read(tmp_path / "last.safetensors")
    broken = dict(saved.tensors)
    broken |= {name: tensor * torch.nan for name, tensor in broken.items() if name.startswith("model.forks.")}
    checkpoint.write(tmp_path / "last.safetensors", saved.facts, broken)
    before = (tmp_path / "last.safetensors").read_bytes()
    with pytest.raises(DivergedError) as caught:
        toy.run(tmp_path, toy.quiet(), steps=16, validations=1)
    message = str(caught.value)
    assert message.startswith("the loss of 2i, 2in is not a finite number at step 9; try a lower training.update.rate")
    assert str(tmp_path) in message
    assert (tmp_path / "last.safetensors").read_bytes() == before
    assert (tmp_path / "best.safetensors").read_bytes() == files["best.safetensors"]


def test_weights_that_are_no_numbers_are_never_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update = TrainingStep.update

    def ruin(self: TrainingStep) -> None:
        update(self)
        if self.updates == 3:  # the fourth: its loss was fine, what it left is not
            with torch.no_grad():
                self.model.entities.weight[0] = torch.inf

    monkeypatch.setattr(TrainingStep, "update", ruin)
    task = toy.task(validate=False)
    with pytest.raises(DivergedError, match=r"entities\.weight holds numbers that are not finite after step 4"):
        train(task, Training(steps=4, batch=16, validations=1, update_per_structure=False), tmp_path, toy.quiet())
    assert not (tmp_path / "last.safetensors").exists()


def test_without_validation_there_is_no_best(tmp_path: Path) -> None:
    result = train(toy.task(validate=False), Training(steps=4, batch=16), tmp_path, toy.quiet())
    assert (result.best, result.best_mrr) == (None, None)
    assert not (tmp_path / "best.safetensors").exists()


def test_structures_take_turns_with_one_optimiser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[tuple[str, ...], int]] = []
    update = TrainingStep.update

    def watched(self: TrainingStep) -> None:
        update(self)
        seen.append((self.structures, int(self.adam.steps)))

    monkeypatch.setattr(TrainingStep, "update", watched)
    toy.run(tmp_path / "turns", toy.quiet(), steps=2, update_per_structure=True, schedule="constant")
    assert seen == [(("1p",), 1), (("2i",), 2), (("2in",), 3), (("1p",), 4), (("2i",), 5), (("2in",), 6)]
    seen.clear()
    toy.run(tmp_path / "together", toy.quiet(), steps=2, update_per_structure=False, schedule="constant")
    assert seen == [(("1p", "2i", "2in"), 1), (("1p", "2i", "2in"), 2)]
    for name in ("turns", "together"):
        lines = figures(tmp_path / name)
        assert {"loss/1p", "loss/2i", "loss/2in"} <= lines[0].keys()


def test_composition_of_a_step() -> None:
    names = ("1p", "2p", "2i")
    assert Training(batch=8).composition(names) == {"1p": 8, "2p": 8, "2i": 8}
    assert Training(batch=8, batch_per="step").composition(names) == {"1p": 3, "2p": 3, "2i": 2}
    mixed = Training(batch=80, batch_per="step", mix={"1p": 6, "2i": 0.5}).composition(names)
    assert sum(mixed.values()) == 80
    assert mixed == {"1p": 63, "2p": 11, "2i": 6}
    with pytest.raises(ValueError, match="every part of mix must be above 0"):
        Training(batch_per="step", mix={"1p": 0})
    with pytest.raises(ValueError, match='it needs batch_per = "step"'):
        Training(mix={"1p": 2})
    for minutes in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="minutes must be"):
            Training(minutes=minutes)
