"""Every method's updates on fused kernels follow the plain ones: same draws, same losses, same weights.

As in `tests/training/test_step_fused.py`: a CUDA device, or TRITON_INTERPRET=1.
"""

from __future__ import annotations

from typing import Any, Literal

import pytest
import torch
from _made_up import made_up
from support.contract_cases import SMALL

from pathformer.models._base import build
from pathformer.nn.backend import force
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
STRUCTURES = ("1p", "3p", "3i", "2in", "inp")
# no dropout: the two ways draw their masks differently
CASES: list[tuple[str, dict[str, Any]]] = [
    ("betae", {}),
    ("biqe", {"dropout": 0.0}),
    ("cone", {"dropout": 0.0}),
    ("fuzzqe", {}),
    ("gammae", {}),
    ("gqe", {}),
    ("mlp", {}),
    ("mlp-mixer", {}),
    ("pair", {part: {**SMALL["pair"][part], "dropout": 0.0} for part in ("one", "other")} | {"denies": False}),
    ("pathformer", {"space": "box", "layers": 1, "margin": 30.0, "dropout": 0.0}),
    ("pathformer", {"space": "beta", "layers": 1, "margin": 60.0, "dropout": 0.0}),
    ("q2b", {}),
    ("q2p", {"dropout": 0.0}),
]

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("kernels_everywhere")]


@pytest.fixture(scope="module")
def data() -> TrainingSet:
    return made_up(STRUCTURES, 20, 8, 30, DEVICE)


def train(
    data: TrainingSet, name: str, variant: dict[str, Any], fused: bool, precision: Literal["bf16", "fp32"] = "fp32"
) -> TrainingStep:
    torch.manual_seed(0)
    made = build(name, {**SMALL[name], **variant}, entities=20, relations=8).to(DEVICE)
    structures = [s.name for s in data.structures if made.negation or not s.negated]
    config = StepConfig(negatives=5, precision=precision, capture=False, rate=1e-3, epsilon=1e-3)
    with force("kernels" if fused else "plain"):
        step = TrainingStep(made, data, dict.fromkeys(structures, 2), config)
        step.run(2)
    return step


every_method = pytest.mark.parametrize(("name", "variant"), CASES, ids=[f"{n}-{v.get('space', '')}" for n, v in CASES])


@every_method
def test_the_same_weights_in_float32(data: TrainingSet, name: str, variant: dict[str, Any]) -> None:
    fused, usual = train(data, name, variant, True), train(data, name, variant, False)
    assert fused.losses().mean == pytest.approx(usual.losses().mean, rel=1e-4)
    pairs = zip(fused.model.parameters(), usual.model.parameters(), strict=True)
    # epsilon 1e-3 keeps Adam from blowing up the rounding of gradients that are almost zero
    assert max((a - b).abs().max().item() for a, b in pairs) < 2e-5


@every_method
def test_bfloat16_follows_float32(data: TrainingSet, name: str, variant: dict[str, Any]) -> None:
    low = train(data, name, variant, True, "bf16").losses()
    exact = train(data, name, variant, True).losses()
    assert not low.diverged
    assert sum(low.mean.values()) == pytest.approx(sum(exact.mean.values()), rel=0.1)
