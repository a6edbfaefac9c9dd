"""A box of time is for updates: neither compiling nor validating may use it up. In made-up time."""

from __future__ import annotations

import io
import json
import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from rich.console import Console
from support import training_toy as toy

from pathformer.evaluation.report import Report
from pathformer.training import loop
from pathformer.training.budget import TimeBudget
from pathformer.training.data import TrainingSet
from pathformer.training.display import Display
from pathformer.training.rounds import Rounds
from pathformer.training.schedule import Progress
from pathformer.training.settings import Result, StepConfig, Training
from pathformer.training.step import TrainingStep

FIRST, USUAL, COLD = 100.0, 1.0, 3  # seconds of a process's first update and of all others; updates that compile


@pytest.fixture
def now() -> list[float]:
    """The time."""
    return [0.0]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> list[float]:
    """Time goes by in updates alone, and the first one is slow; the rates that they had."""
    rates: list[float] = []
    update = TrainingStep.update

    def timed(self: TrainingStep) -> None:
        update(self)
        rates.append(float(self.adam._rate))
        now[0] += FIRST if len(rates) == 1 else USUAL

    monkeypatch.setattr(TrainingStep, "update", timed)
    made = partial(TimeBudget.of_minutes, now=lambda: now[0])
    monkeypatch.setattr(loop.TimeBudget, "of_minutes", made)
    return rates


def cold(monkeypatch: pytest.MonkeyPatch, rates: list[float]) -> None:
    """As on a card."""
    monkeypatch.setattr(TrainingStep, "cold", property(lambda _: max(0, COLD - len(rates))))


def test_a_slow_first_update_takes_nothing_from_the_box(
    slow: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cold(monkeypatch, slow)
    said = io.StringIO()
    result = toy.run(tmp_path, Display(Console(file=said, width=200)), steps=10**9, minutes=1.0, schedule="linear")
    assert (result.finished, result.step, result.seconds) == (True, COLD + 60, 60.0)
    assert said.getvalue().startswith("kernels compiled in 0 s, before the clock started\n")
    assert slow[: COLD + 1] == pytest.approx([1e-4] * (COLD + 1))  # no time had gone by, so the rate is the first one
    assert slow[COLD + 30] == pytest.approx(0.5e-4)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "valid/mrr" in line] == [COLD + at for at in (15, 30, 45, 60)]


def test_without_that_it_takes_all_of_it(slow: list[float], tmp_path: Path) -> None:
    said = io.StringIO()
    result = toy.run(tmp_path, Display(Console(file=said, width=200)), steps=10**9, minutes=1.0)
    assert (result.finished, result.step, result.seconds) == (True, 1, FIRST)
    assert "compiled" not in said.getvalue()


def test_slow_validations_rank_no_weights_twice(slow: list[float], now: list[float], tmp_path: Path) -> None:
    slow.append(0.0)  # the first update is behind
    task = toy.task()
    assert task.validate is not None
    rank = task.validate

    def validate() -> Report:
        now[0] += 20.0
        return rank()

    settings = Training(steps=10**9, minutes=1.0, batch=16, validations=4, update_per_structure=False)
    result = loop.train(replace(task, validate=validate), settings, tmp_path, toy.quiet())
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "valid/mrr" in line] == [15, 16, 17]
    assert result.step == 17


def test_a_run_that_stopped_in_a_slow_validation_goes_on_with_an_update(
    slow: list[float], now: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cold(monkeypatch, slow)
    settings = Training(steps=10**9, minutes=1.0, batch=16, validations=4, update_per_structure=False)
    said = io.StringIO()

    def sitting(*, stopped: bool) -> Result:
        task = toy.task()
        assert task.validate is not None
        rank = task.validate

        def validate() -> Report:
            now[0] += 20.0  # longer than until the next one
            if stopped:
                os.kill(os.getpid(), signal.SIGINT)
            return rank()

        slow.clear()  # each process compiles anew
        return loop.train(replace(task, validate=validate), settings, tmp_path, Display(Console(file=said, width=200)))

    first, second = sitting(stopped=True), sitting(stopped=False)
    assert (first.finished, first.step, first.seconds) == (False, COLD + 15, 35.0)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "valid/mrr" in line] == [18, 19, 20]
    assert (second.finished, second.step, second.seconds) == (True, 20, 75.0)  # no update took time
    assert said.getvalue().count("kernels compiled") == 1  # in the second sitting it never came to recording


def test_a_box_that_is_over_at_once_compiles_nothing_and_says_nothing_of_it(
    slow: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cold(monkeypatch, slow)
    monkeypatch.setattr(Progress, "done", property(lambda _: True))
    said = io.StringIO()
    result = toy.run(tmp_path, Display(Console(file=said, width=200)), steps=10**9, minutes=1e-9)
    assert (result.finished, result.step, slow) == (True, 0, [])
    assert "compiled" not in said.getvalue()
    assert result.last.is_file()


def test_a_run_of_steps_has_its_steps_and_its_validations(
    slow: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cold(monkeypatch, slow)
    for name, settings in {"steps": {}, "both": {"minutes": 60.0}}.items():
        slow.clear()
        result = toy.run(tmp_path / name, toy.quiet(), steps=4, validations=4, **settings)
        assert result.step == len(slow) == 4
        lines = [json.loads(line) for line in (tmp_path / name / "log.jsonl").read_text().splitlines()]
        assert [line["step"] for line in lines if "valid/mrr" in line] == [1, 2, 3, 4]


def test_a_continued_run_compiles_again_outside_its_time(
    slow: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cold(monkeypatch, slow)
    with monkeypatch.context() as cut:
        cut.setattr(loop._Run, "advance", lambda run: setattr(run.interrupt, "asked", True))
        first = toy.run(tmp_path, toy.quiet(), steps=10**9, minutes=1.0)
    assert (first.finished, first.step, first.seconds) == (False, COLD, 0.0)
    slow.clear()
    second = toy.run(tmp_path, toy.quiet(), steps=10**9, minutes=1.0)
    assert (second.finished, second.step, second.seconds) == (True, 2 * COLD + 60, 60.0)


def test_a_processor_has_nothing_to_compile() -> None:
    task = toy.task()
    step = Rounds(task.model, task.data, {"1p": 4, "2i": 4}, StepConfig())
    assert step.cold == 0
    step.run()
    assert step.cold == 0


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_card_has_until_its_update_is_recorded() -> None:
    model = toy.model().to("cuda")
    data = TrainingSet.of(toy.training_queries(), toy.ENTITIES, "cuda")
    step = TrainingStep(model, data, {"1p": 4}, StepConfig())
    seen = []
    while step.cold:
        assert step._graph is None
        seen.append(step.cold)
        step.run()
    assert seen == [3, 2, 1]
    assert step._graph is not None
