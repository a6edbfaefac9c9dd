"""A model and what it is taught: the links first, where the settings say so, then questions of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pathformer import __version__
from pathformer.engine.best import train_best
from pathformer.engine.heldout import Questions, draw_again, to_learn
from pathformer.engine.links import start_from_links
from pathformer.engine.scale import Scale
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.report import Report
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models import Model, build
from pathformer.training.data import TrainingSet
from pathformer.training.display import Display
from pathformer.training.fresh import ROOM
from pathformer.training.loop import Result, Task

__all__ = ["METHOD", "Lesson", "new_model", "train_in"]

METHOD = "pathformer"
_VALIDATED = 60  # queries of a structure that the best weights are picked by


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a model learns from and is judged by."""

    kg: KnowledgeGraph  # in its parts
    questions: Questions
    scale: Scale

    def facts(self, model: Model) -> dict[str, Any]:
        """What its checkpoints say of a model."""
        names = self.kg.vocabulary
        return {
            "version": __version__,
            "method": model.name,
            "model": dict(self.scale.model),
            "entities": names.entity_count,
            "relations": names.relation_count,
            "fingerprint": names.fingerprint(),
            "dataset": self.kg.name,
        }


def new_model(kg: KnowledgeGraph, scale: Scale, device: torch.device) -> Model:
    """A model that knows nothing yet."""
    torch.manual_seed(scale.training.seed)
    names = kg.vocabulary
    return build(METHOD, scale.model, entities=names.entity_count, relations=names.relation_count).to(device)


def train_in(
    folder: Path, model: Model, lesson: Lesson, display: Display, moved: Mapping[str, Tensor] | None = None
) -> Result:
    """Train in a folder, or continue there, and leave the best weights in the model; Ctrl-C goes on to the caller.

    moved: rows that are trained, as in `Task`; without it, all of them.
    """
    kg, questions, scale, facts = lesson.kg, lesson.questions, lesson.scale, lesson.facts(model)
    if scale.links is not None:
        display.say("single links first, then questions of all kinds: the figures of the two are not comparable")
        start_from_links(folder / "links", model, questions, scale.links, facts, display.labelled("single links"))
        display = display.labelled("questions")
    learned, removed = to_learn(kg, questions.train.values(), scale), scale.training.update.softmax.removed
    device = model.entities.weight.device
    task = Task(
        model=model,
        data=TrainingSet.of(learned, kg.vocabulary.entity_count, device, ROOM, removed),
        facts=facts,
        validate=_validation(model, questions) if questions.valid else None,
        draw=partial(draw_again, kg, questions.train, scale, scale.training.seed),
        moved=moved,
    )
    result = train_best(task, scale.training, folder / "training", display)
    model.eval()
    return result


def _validation(model: Model, questions: Questions) -> Callable[[], Report]:
    asked = {name: some.take(np.arange(min(_VALIDATED, len(some)))) for name, some in questions.valid.items()}
    return lambda: evaluate(ModelRanker(model), asked)
