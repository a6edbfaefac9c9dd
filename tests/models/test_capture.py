"""Every method's update as a CUDA graph: the same draws, losses and weights as one update after the other."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from _made_up import made_up
from support.contract_cases import CASES, IDS, SMALL

from pathformer.models._base import build
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep

pytestmark = pytest.mark.gpu

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
STRUCTURES = ("1p", "3p", "2i", "3i", "2in", "inp", "pni")
every_variant = pytest.mark.parametrize(("name", "variant"), CASES, ids=IDS)


@pytest.fixture(scope="module")
def data() -> TrainingSet:
    if DEVICE == "cpu":
        pytest.skip("no CUDA device to capture on")
    return made_up(STRUCTURES, 60, 8, 50, DEVICE)


def train(data: TrainingSet, name: str, variant: dict[str, Any], config: StepConfig, updates: int) -> TrainingStep:
    torch.manual_seed(0)
    made = build(name, {**SMALL[name], **variant}, entities=60, relations=8).to(data.ids.device)
    structures = [s.name for s in data.structures if made.takes(s)]
    step = TrainingStep(made, data, dict.fromkeys(structures, 6), config)
    step.run(updates)
    return step


@every_variant
def test_twenty_captured_updates_are_twenty_eager_ones(data: TrainingSet, name: str, variant: dict[str, Any]) -> None:
    runs = [
        train(data, name, variant, StepConfig(negatives=7, precision="fp32", capture=capture, epsilon=1e-3), 20)
        for capture in (True, False)
    ]
    captured, eager = (run.losses() for run in runs)
    assert not captured.diverged
    for structure, loss in eager.mean.items():
        assert captured.mean[structure] == pytest.approx(loss, rel=1e-3), structure
    pairs = zip(runs[0].model.parameters(), runs[1].model.parameters(), strict=True)
    assert max((a - b).abs().max().item() for a, b in pairs) < 1e-4


@every_variant
def test_bfloat16_follows_float32(data: TrainingSet, name: str, variant: dict[str, Any]) -> None:
    low, high = (
        train(data, name, variant, StepConfig(negatives=7, precision=precision), 20).losses()  # type: ignore[arg-type]
        for precision in ("bf16", "fp32")
    )
    assert not low.diverged
    assert sum(low.mean.values()) == pytest.approx(sum(high.mean.values()), rel=0.05)
