"""Training that ends with the best weights: those of the best validation, or the last average where there was none."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support import training_toy as toy

from pathformer.training import checkpoint
from pathformer.training.loop import train
from pathformer.training.pipeline import choose_weights
from pathformer.training.settings import StepConfig, Training


@pytest.mark.parametrize("ema", [0.9, 0.0])
@pytest.mark.parametrize("validate", [True, False])
def test_the_weights_are_those_that_a_validation_ranks(validate: bool, ema: float, tmp_path: Path) -> None:
    task = toy.task(validate=validate)
    update = StepConfig(rate=1e-2, ema=ema)
    settings = Training(
        steps=12, batch=16, validations=3, update_per_structure=False, schedule="constant", update=update
    )
    result = train(task, settings, tmp_path, toy.quiet())
    choose_weights(task.model, result)
    assert (result.best is not None) == validate
    saved = checkpoint.read(result.best or result.last)
    wanted = saved.part("average") if ema and not validate else saved.part("model")
    for name, weight in task.model.named_parameters():
        assert torch.equal(weight.detach(), wanted[name]), name
    if not validate:  # an average is none of the weights
        last = checkpoint.read(result.last).part("model")["entities.weight"]
        assert torch.equal(task.model.entities.weight.detach(), last) == (not ema)
