"""`bench train` without a card: it says so, and its figures go where they are sent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import train
from _record import RESULTS


def test_on_a_processor_a_small_model_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    speed = train.bench.speed
    monkeypatch.setattr(train.bench, "speed", lambda step, updates, warmup: speed(step, updates=1, warmup=0))
    monkeypatch.setattr(sys, "argv", ["train.py", "--cpu", "--out", str(tmp_path)])
    train.main()
    assert capsys.readouterr().out.startswith("processor, d = 64, 2 layers, 5 x 128: ")
    assert [path.name for path in tmp_path.iterdir()] == ["train-cpu.json"]
    assert not (RESULTS / "train-cpu.json").exists()
    found = json.loads((tmp_path / "train-cpu.json").read_text(encoding="utf-8"))
    assert (found["figures"]["queries"], found["figures"]["tokens"]) == (640, 128 * 19)
    assert found["machine"]["cores"] >= 1


def test_relative_positions_always_stand_beside_the_absolute_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    assert train.variants(every=False) == {"relative positions": train.Config(positions="relative")}
    more = train.variants(every=True)
    assert next(iter(more)) == "relative positions"
    assert len(more) == len({repr(config) for config in more.values()}) == 7
    assert train.Config() not in more.values()  # that is what they stand beside
    measured = []
    monkeypatch.setattr(train, "case", lambda name, *_, config: measured.append((name, config.positions)))
    assert [name for name, _ in train.others(None, 1.0, every=False)] == ["relative positions"]
    assert measured == [("relative positions", "relative")]
