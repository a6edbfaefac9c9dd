"""How a fit or an update trains its model: single links first where its settings say so, then questions of all kinds.

Links alone are learned several times faster than whole questions, and a `composed` model answers them from the start as
the link predictor does; the rest of the time goes into everything else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from pathformer.errors import DamagedError
from pathformer.files.atomic import write_json
from pathformer.files.saved import check_file
from pathformer.fitting.heldout import attempts
from pathformer.fitting.settings import LEAST_TRAINING, TRAINED, FitSettings, LinkSettings
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.evidence.embedding import Embedding
from pathformer.models._base import Model
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.querysets.sampler import Rules
from pathformer.training import pipeline
from pathformer.training.budget import TimeBudget
from pathformer.training.display import Display
from pathformer.training.redraw import TrainingQueries
from pathformer.training.settings import Result

__all__ = ["LINK_METHOD", "learn", "learn_link_predictor", "new_model", "time_for_training", "training_queries"]

LINK_METHOD = "complex"
_TIME_FILE = "training-time.json"
_VALIDATED = 60  # held-out queries of a structure that the best weights are chosen by


def new_model(kg: KnowledgeGraph, settings: FitSettings, device: torch.device) -> Model:
    """Builds the model of a fit with its first weights."""
    return pipeline.new_model(settings.method, settings.model, kg, device, settings.training.seed)


def time_for_training(settings: FitSettings, budget: TimeBudget, folder: Path) -> FitSettings:
    """Returns the settings with the time that is left for training; settings that count steps stay as they are.

    The folder keeps that time, so that a fit that is continued follows the same schedule.
    """
    if budget.seconds is None or settings.training.minutes is None:
        return settings.with_training(settings.training)
    file = folder / _TIME_FILE
    if file.is_file():
        check_file(file, "fit")
        try:
            minutes = float(json.loads(file.read_text("utf-8"))["minutes"])
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise DamagedError(file, "holds no number of minutes", "start again with --fresh") from error
    else:
        minutes = max(budget.first(TRAINED).left, LEAST_TRAINING * budget.seconds) / 60.0
        write_json(file, {"minutes": minutes}, "fit")
    return settings.with_training(replace(settings.training, minutes=minutes))


def learn(
    folder: Path,
    model: Model,
    kg: KnowledgeGraph,
    questions: QuerySets[Queries],
    settings: FitSettings,
    display: Display,
    row_rates: Mapping[str, Tensor] | None = None,
    start: Result | None = None,
) -> Result:
    """Trains in a folder, or continues there, and leaves the best weights in the model.

    row_rates: as in `training.settings.Task`; start: the training of the link predictor that the model starts from. An
    interruption is raised once the training is saved.
    """
    started = start is not None
    result = pipeline.train_model(
        model,
        pipeline.Material(
            queries=training_queries(kg, questions, settings),
            valid={name: some.spread(_VALIDATED) for name, some in questions["valid"].items()},
        ),
        folder / "training",
        display.for_part("questions") if started else display,
        start=None if start is None else lambda: start,
        row_rates=row_rates,
    )
    if not result.finished:
        raise KeyboardInterrupt
    pipeline.choose_weights(model, result)
    return result


def training_queries(kg: KnowledgeGraph, questions: QuerySets[Queries], settings: FitSettings) -> TrainingQueries:
    """The training questions of a fit, drawn anew within the limits that they were drawn in."""
    rules = Rules(forward=True, limit=settings.limit, attempts=attempts(settings.trained_per_structure))
    return TrainingQueries(kg=kg, given=questions["train"], settings=settings.training, rules=rules)


def learn_link_predictor(
    folder: Path,
    kg: KnowledgeGraph,
    given: Queries,
    valid: Mapping[str, Queries],
    links: LinkSettings,
    device: torch.device,
    display: Display,
    start: Result | None = None,
) -> tuple[Result, Embedding]:
    """Trains the link predictor, in a folder or on from there; returns its training, and its tables as evidence.

    given: the links to learn; start: the training whose tables it starts from. An interruption is raised once the
    training is saved.
    """
    predictor = pipeline.new_model(LINK_METHOD, links.model, kg, device, links.training.seed)
    queries = TrainingQueries(kg=kg, given={"1p": given}, settings=links.training)
    material = pipeline.Material(queries=queries, valid=valid)
    first = None if start is None else lambda: start
    result = pipeline.train_model(predictor, material, folder, display, start=first)
    if not result.finished:
        raise KeyboardInterrupt
    pipeline.choose_weights(predictor, result)
    entities, relations = (table.weight.detach().cpu().numpy() for table in predictor.link_tables().values())
    return result, Embedding(entities, relations)
