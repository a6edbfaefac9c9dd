"""The moving average: its formula as a loop, its place in validation and checkpoints, and exact continuation."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support import training_toy as toy
from torch import nn

from pathformer.training import checkpoint
from pathformer.training.average import Average
from pathformer.training.settings import StepConfig

EMA = StepConfig(rate=1e-2, ema=0.9)


def test_it_is_the_mean_at_first_and_exponential_later() -> None:
    layer = nn.Linear(1, 1, bias=False)
    average, loop, values = Average(layer, 0.8), 0.0, [3.0, 1.0, 2.0, 7.0, 7.0, 0.0, 5.0, 4.0]
    for count, value in enumerate(values, 1):
        layer.weight.data.fill_(value)
        average.update()
        loop += max(0.2, 1 / count) * (value - loop)
        assert average.state()["weight"].item() == pytest.approx(loop)
        if count == 4:
            assert loop == pytest.approx(sum(values[:4]) / 4)


def test_inside_the_averages_stand_in_and_afterwards_the_weights_are_back() -> None:
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    average = Average(layer, 0.9)
    average.update()
    layer.weight.data.add_(1.0)
    with average.instead():
        assert torch.equal(layer.weight, before)
    assert torch.equal(layer.weight, before + 1.0)


def test_the_average_is_validated_and_saved_as_the_best(tmp_path: Path) -> None:
    toy.run(tmp_path, toy.quiet(), steps=30, validations=1, update=EMA)
    last = checkpoint.read(tmp_path / "last.safetensors")
    best = checkpoint.read(tmp_path / "best.safetensors")
    raw, average = last.part("model"), last.part("average")
    assert average["count"].item() == 30
    assert set(average) == {*raw, "count"}
    assert not torch.equal(raw["entities.weight"], average["entities.weight"])
    assert all(torch.equal(tensor, average[name]) for name, tensor in best.part("model").items())
    assert all(torch.equal(tensor, average[name]) for name, tensor in last.weights().items())
    assert best.weights().keys() == raw.keys()


@pytest.mark.parametrize("turns", [False, True])
def test_an_interrupted_run_continues_to_the_same_averages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: bool
) -> None:
    toy.run(tmp_path / "whole", toy.quiet(), update=EMA, update_per_structure=turns)
    cut = toy.interrupt(monkeypatch, {7, 12})
    while not toy.run(tmp_path / "cut", toy.quiet(), update=EMA, update_per_structure=turns).finished:
        pass
    assert not cut
    for name in ("last", "best"):
        one, other = (checkpoint.read(tmp_path / f / f"{name}.safetensors").tensors for f in ("whole", "cut"))
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)


def test_a_decay_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="ema must be"):
        StepConfig(ema=1.0)
