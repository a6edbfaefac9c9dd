"""A link predictor first: a ComplEx as wide as the model learns single links, and the model's tables start from it.

Links alone are learned several times faster than whole questions, and a model whose paths have a base (`model.base`)
answers them from the start as the ComplEx does; what is left of the time goes into everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from pathformer.engine.best import train_best
from pathformer.engine.heldout import Questions
from pathformer.engine.scale import Links
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.models import Model, build
from pathformer.training.data import TrainingSet
from pathformer.training.display import Display
from pathformer.training.loop import Task
from pathformer.training.start import start_tables

__all__ = ["METHOD", "start_from_links"]

METHOD = "complex"


def start_from_links(
    folder: Path,
    model: Model,
    questions: Questions,
    links: Links,
    facts: Mapping[str, Any],
    display: Display,
) -> None:
    """Train the link predictor in a folder, or continue there, and start the model from its best weights."""
    device = model.entities.weight.device
    torch.manual_seed(links.training.seed)
    source = build(METHOD, links.model, entities=model.entity_count, relations=model.relation_count).to(device)
    asked = questions.valid.get("1p")
    task = Task(
        model=source,
        data=TrainingSet.of([questions.train["1p"]], model.entity_count, device),
        facts={**facts, "method": METHOD, "model": dict(links.model)},
        validate=None if asked is None else lambda: evaluate(ModelRanker(source), {"1p": asked}),
    )
    train_best(task, links.training, folder, display)
    start_tables(model, source)
