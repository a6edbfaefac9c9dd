"""`bench train` without a card: it says so, and its figures go where they are sent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch
import train
from _made_up import made_up
from _record import RESULTS

from pathformer.models.pathformer import Config, Pathformer
from pathformer.training.data import Drawer
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep


def test_on_a_processor_a_small_model_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    speed = train.speed
    monkeypatch.setattr(train, "speed", lambda step, updates, warmup: speed(step, updates=1, warmup=0))
    monkeypatch.setattr(sys, "argv", ["train.py", "--cpu", "--out", str(tmp_path)])
    train.main()
    assert capsys.readouterr().out.startswith("processor, d = 64, 2 layers, 5 x 128: ")
    assert [path.name for path in tmp_path.iterdir()] == ["train-cpu.json"]
    assert not (RESULTS / "train-cpu.json").exists()
    found = json.loads((tmp_path / "train-cpu.json").read_text(encoding="utf-8"))
    assert (found["figures"]["queries"], found["figures"]["tokens"]) == (640, 128 * 19)
    assert found["machine"]["cores"] >= 1


def test_matrix_flops_count_every_token_and_pair() -> None:
    with torch.device("meta"):
        model = Pathformer(Config(), 10, 2)
    data = made_up(("1p", "2p", "3p", "2i", "3i"), 20, 2, 5, "cpu")
    layout = Drawer(data, dict.fromkeys(("1p", "2p", "3p", "2i", "3i"), 512)).layout
    encoder, fork = 6 * 12 * 800**2, 2 * 800 * 1600 + 1600 * 800 + 800 * 800
    assert train.matrix_flops(model, layout) == 6.0 * (encoder * 19 * 512 + fork * 3 * 512)


def test_speed_and_groups_on_the_processor() -> None:
    composition = {"1p": 8, "2i": 4, "inp": 4}
    data = made_up(tuple(composition), 40, 6, 30, "cpu")
    made = TrainingStep(
        Pathformer(Config(dim=16, layers=1, heads=2), 40, 6), data, composition, StepConfig(negatives=8)
    )
    figures = train.speed(made, updates=2, warmup=1)
    assert figures.queries == 16
    assert figures.tokens == 8 * 2 + 4 * 4 + 4 * (2 + 3 + 2)
    assert figures.queries_per_second == pytest.approx(16e3 / figures.milliseconds)
    groups = train.kernel_groups(
        {"nvjet_tst_128": 2.0, "_norm_forward": 1.0, "vectorized_elementwise": 0.5, "_adam": 3}
    )
    assert (groups["matrix products"], groups["residual and norm"]) == (2.0, 1.0)
    assert (groups["optimiser"], groups["other"]) == (3.0, 0.5)
