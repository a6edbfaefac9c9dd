"""A model and what it is taught: the links first, where the settings say so, then questions of all kinds.

Training that ends with the best weights in its model.

A link predictor first: a ComplEx as wide as the model learns single links, and the model's tables start from it.

Links alone are learned several times faster than whole questions, and a model whose paths have a base (`model.base`)
answers them from the start as the ComplEx does; what is left of the time goes into everything else.
"""

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
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.report import Report
from pathformer.fitting.heldout import draw_again, to_learn
from pathformer.fitting.settings import Links, Scale
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model, build
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.training import checkpoint
from pathformer.training.data import TrainingSet
from pathformer.training.display import Display
from pathformer.training.fresh import ROOM
from pathformer.training.loop import train
from pathformer.training.settings import Result, Task, Training
from pathformer.training.start import start_tables

__all__ = ["Lesson", "new_model", "start_from_links", "train_best", "train_in"]

_VALIDATED = 60  # queries of a structure that the best weights are picked by


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a model learns from and is judged by."""

    kg: KnowledgeGraph  # in its parts
    questions: QuerySets[Queries]
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
    return build(scale.method, scale.model, entities=names.entity_count, relations=names.relation_count).to(device)


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
    learned, removed = to_learn(kg, questions["train"].values(), scale), scale.training.update.softmax.removed
    device = model.entities.weight.device
    task = Task(
        model=model,
        data=TrainingSet.of(learned, kg.vocabulary.entity_count, device, ROOM, removed),
        facts=facts,
        validate=_validation(model, questions) if questions["valid"] else None,
        draw=partial(draw_again, kg, questions["train"], scale, scale.training.seed),
        moved=moved,
    )
    result = train_best(task, scale.training, folder / "training", display)
    model.eval()
    return result


def _validation(model: Model, questions: QuerySets[Queries]) -> Callable[[], Report]:
    asked = {name: some.take(np.arange(min(_VALIDATED, len(some)))) for name, some in questions["valid"].items()}
    return lambda: evaluate(ModelRanker(model), asked)


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


LINK_METHOD = "complex"


def start_from_links(
    folder: Path,
    model: Model,
    questions: QuerySets[Queries],
    links: Links,
    facts: Mapping[str, Any],
    display: Display,
) -> None:
    """Train the link predictor in a folder, or continue there, and start the model from its best weights."""
    device = model.entities.weight.device
    torch.manual_seed(links.training.seed)
    source = build(LINK_METHOD, links.model, entities=model.entity_count, relations=model.relation_count).to(device)
    asked = questions["valid"].get("1p")
    task = Task(
        model=source,
        data=TrainingSet.of([questions["train"]["1p"]], model.entity_count, device),
        facts={**facts, "method": LINK_METHOD, "model": dict(links.model)},
        validate=None if asked is None else lambda: evaluate(ModelRanker(source), {"1p": asked}),
    )
    train_best(task, links.training, folder, display)
    start_tables(model, source)
