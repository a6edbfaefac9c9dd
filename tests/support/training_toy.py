"""A graph and queries small enough to train on in a second."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.report import Report
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model, build
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.querysets.sampler import sample
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training.data import TrainingSet
from pathformer.training.display import Display
from pathformer.training.loop import train
from pathformer.training.settings import Result, Task, Training
from pathformer.training.step import Losses, TrainingStep

ENTITIES, RELATIONS = 40, 6
STRUCTURE_NAMES = ("1p", "2i", "2in")
AT_MOST = {"dim": 16, "hidden": 8, "bases": 3, "layers": 1, "heads": 2, "channels": 4, "token_hidden": 4}


def tiny(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns small settings for the model of any method."""
    return {key: min(value, AT_MOST[key]) if key in AT_MOST else value for key, value in settings.items()}


def quiet() -> Display:
    """Returns a display that nobody sees."""
    return Display(Console(file=io.StringIO()))


def graphs() -> tuple[Graph, Graph]:
    """Returns the train graph, and a larger graph that holds it."""
    rng = np.random.default_rng(0)
    heads = rng.integers(0, ENTITIES, 400)
    relations = 2 * rng.integers(0, RELATIONS // 2, 400)
    triples = np.stack([heads, relations, (heads + relations + rng.integers(1, 4, 400)) % ENTITIES], 1)
    return (
        Graph.from_triples(triples[:330], ENTITIES, RELATIONS),
        Graph.from_triples(triples, ENTITIES, RELATIONS),
    )


def save_graph(path: Path, seed: int = 0) -> Path:
    """Saves a graph of forty entities with train, valid and test, as its folder's name calls it."""
    rng = np.random.default_rng(seed)
    rows = {(int(h), int(r), int(5 * k + (h + r + 1) % 5)) for h, r, k in rng.integers(0, [40, 3, 8], (400, 3))}
    triples = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in sorted(rows)]
    order = rng.permutation(len(triples))
    parts = [[triples[i] for i in order[a:b]] for a, b in ((0, -50), (-50, -25), (-25, None))]
    return KnowledgeGraph.from_triples(*parts, name=path.name).save(path)


def save_run(path: Path, graph: Path, method: str, trained: str = "epfo") -> None:
    """Writes a run file over a saved graph: a small model of a method, small batches."""
    path.write_text(
        f'dataset = "{graph}"\nqueries = "drawn"\nmethod = "{method}"\ntrained = "{trained}"\n'
        "model.dim = 8\ntraining = { batch = 8, update = { rate = 0.01, negatives = 4 } }\n"
    )


def training_queries() -> list[Queries]:
    return [sample(STRUCTURES[name], GraphPair.of(graphs()[0]), 60) for name in STRUCTURE_NAMES]


def valid_queries() -> dict[str, Queries]:
    small, large = graphs()
    return {name: sample(STRUCTURES[name], GraphPair.of(large, small), 20, stream="valid") for name in STRUCTURE_NAMES}


def model(seed: int = 0, **settings: Any) -> Model:
    torch.manual_seed(seed)
    return build("pathformer", {"dim": 16, "layers": 1, "heads": 2, **settings}, entities=ENTITIES, relations=RELATIONS)


def task(seed: int = 0, validate: bool = True, **settings: Any) -> Task:
    made = model(seed, **settings)
    asked = valid_queries()

    def check() -> Report:
        return evaluate(ModelRanker(made), asked)

    facts = {
        "method": "pathformer",
        "dataset": "toy",
        "fingerprint": "toy-1",
        "entities": ENTITIES,
        "relations": RELATIONS,
    }
    return Task(
        model=made,
        data=TrainingSet.of(training_queries(), ENTITIES),
        facts=facts,
        validate=check if validate else None,
    )


def run(folder: Path, display: Display | None = None, **settings: Any) -> Result:
    defaults: dict[str, Any] = {"steps": 24, "batch": 16, "validations": 4, "update_per_structure": False}
    return train(task(), Training(**{**defaults, **settings}), folder, display)


def early_and_late(step: TrainingStep, between: int, last: int = 5) -> tuple[Losses, Losses]:
    """Returns the losses of the first five updates, and of the last ones after `between` more."""
    step.run(5)
    early = step.losses()
    step.run(between)
    step.losses()
    step.run(last)
    return early, step.losses()


def interrupt(monkeypatch: pytest.MonkeyPatch, after: Iterable[int]) -> set[int]:
    """Presses Ctrl-C after each of these updates, once; returns those that are still to come."""
    update, left = TrainingStep.update, set(after)

    def interrupted(self: TrainingStep) -> None:
        update(self)
        if self.updates + 1 in left:
            left.remove(self.updates + 1)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(TrainingStep, "update", interrupted)
    return left


if __name__ == "__main__":  # a run that is meant to be killed
    import sys

    torch.set_num_threads(1)
    run(Path(sys.argv[1]), save_minutes=0.0, steps=int(sys.argv[2]))
