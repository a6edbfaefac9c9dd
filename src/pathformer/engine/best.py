"""Training that ends with the best weights in its model."""

from __future__ import annotations

from pathlib import Path

from pathformer.training import checkpoint
from pathformer.training.display import Display
from pathformer.training.loop import Result, Task, Training, train

__all__ = ["train_best"]


def train_best(task: Task, settings: Training, folder: Path, display: Display) -> Result:
    """Train in a folder, or continue there, and leave the best weights in the model; Ctrl-C goes on to the caller.

    Without validation those are the last ones: their average, where one is kept, as it is what a validation ranks.
    """
    result = train(task, settings, folder, display)
    if not result.finished:
        raise KeyboardInterrupt
    weights = checkpoint.read(result.best or result.last, task.model.entities.weight.device).weights()
    task.model.load_state_dict(weights)
    return result
