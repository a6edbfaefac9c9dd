"""The one way in which a model is trained; `pathformer fit` and `pathformer train` both take it.

    new_model      a model with its first weights
    train_model    start its tables from a link predictor, put queries on the device, train, validate
    choose_weights the best weights on validation, else the last ones, into the model

A run lives in a folder and is continued there by the same call (`training.loop`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pathformer import __version__
from pathformer.errors import ConfigError
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.report import Report
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model, build
from pathformer.models.pair import Pair
from pathformer.querysets.queries import Queries
from pathformer.training import checkpoint
from pathformer.training.display import Display
from pathformer.training.loop import LAST, train
from pathformer.training.redraw import TrainingQueries
from pathformer.training.settings import Result, Task
from pathformer.training.start import start_tables

__all__ = ["Material", "choose_weights", "model_facts", "new_model", "train_model", "validation"]

Start = Callable[[], Result]  # trains, or finds, the model whose tables another one starts from


@dataclass(frozen=True, eq=False, kw_only=True)
class Material:
    """What a model learns from, what it is validated by, and what its checkpoints say."""

    queries: TrainingQueries
    valid: Mapping[str, Queries] = field(default_factory=dict)  # ranked at each validation; empty: nothing is ranked
    facts: Callable[[], Mapping[str, Any]] = dict  # besides those of `model_facts`; asked when training begins


def new_model(
    method: str, settings: Mapping[str, Any], kg: KnowledgeGraph, device: torch.device, seed: int = 0
) -> Model:
    """Builds a model with its first weights, which the seed decides."""
    torch.manual_seed(seed)
    names = kg.vocabulary
    return build(method, settings, entities=names.entity_count, relations=names.relation_count).to(device)


def train_model(
    model: Model,
    material: Material,
    folder: Path,
    display: Display,
    *,
    start: Start | None = None,
    row_rates: Mapping[str, Tensor] | None = None,
) -> Result:
    """Trains a model in a folder, or continues there.

    start: gives the model whose tables this one starts from, once, before the first update.
    row_rates: as in `Task`; without it all rows move.
    """
    queries, device = material.queries, model.entities.weight.device
    if start is not None and not (folder / LAST).is_file():
        first = start()
        if not first.finished:
            return first
        start_tables(model, _start_model(first.last, queries.kg, device), queries.settings.seed)
    task = Task(
        model=model,
        data=queries.on_device(device),
        facts={**model_facts(model, queries.kg), **material.facts()},
        validate=validation(model, material.valid) if material.valid else None,
        draw=queries.draw_set if queries.settings.redraw_every else None,
        row_rates=row_rates,
    )
    return train(task, queries.settings, folder, display)


def choose_weights(model: Model, result: Result) -> None:
    """Puts the best weights into the model; without validation the last ones, or their average if there is one."""
    saved = checkpoint.read(result.best or result.last, model.entities.weight.device)
    model.load_state_dict(saved.weights())
    model.eval()


def validation(model: Model, queries: Mapping[str, Queries]) -> Callable[[], Report]:
    """Returns a function that ranks these queries by the model as it then is."""
    return lambda: evaluate(ModelRanker(model), queries)


def model_facts(model: Model, kg: KnowledgeGraph) -> dict[str, Any]:
    """Returns what every checkpoint says of its model and of the graph whose ids it means."""
    names = kg.vocabulary
    return {
        "version": __version__,
        "method": model.name,
        "model": asdict(model.config),
        "entities": names.entity_count,
        "relations": names.relation_count,
        "fingerprint": names.fingerprint(),
        "dataset": kg.name,
    }


def _start_model(file: Path, kg: KnowledgeGraph, device: torch.device) -> Model:
    """Opens the model to start from; refuses one whose ids mean other things."""
    if checkpoint.read_facts(file)["method"] == Pair.name:
        raise ConfigError(
            f"{file} is two models side by side: start from one of them, {file.with_name('best.safetensors')} say"
        )
    model, facts = checkpoint.load_model(file, device)
    checkpoint.check_graph(facts, kg.vocabulary.fingerprint(), file, kg.name)
    return model
