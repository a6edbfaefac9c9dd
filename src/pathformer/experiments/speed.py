"""How fast every method trains on one machine: queries a second, and seconds for 100 steps as in the paper's Table 15.

A step is one batch of 512 queries of each trained structure, five for queries without negation and ten with it, an
update each, as in the reference code; the same queries in one update are timed beside it. Queries are made up, of
FB15k-237's size, so that no data are needed; everything else is what a run of the method does, at the paper's size.
"""

from __future__ import annotations

import dataclasses
import gc
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import torch

from pathformer.experiments.machine import commit as commit_here
from pathformer.experiments.machine import device_facts
from pathformer.experiments.settings import Run, read_run
from pathformer.experiments.tables.catalogue import CASES
from pathformer.models import Model, build
from pathformer.query.structures import EFOL_TRAINED, EPFO_TRAINED
from pathformer.training.bench import made_up, timed
from pathformer.training.data import TrainingSet
from pathformer.training.turns import Turns

__all__ = ["LARGE", "SMALL", "Size", "measure_speed"]


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large the graph, the batches and the models are."""

    entities: int = 14_505  # FB15k-237's
    relations: int = 474
    queries: int = 20_000  # of a structure
    batch: int = 512  # of a structure
    at_most: Mapping[str, int] = dataclasses.field(default_factory=dict)  # of a model's settings; none: the paper's
    seconds: float = 1.0  # of timed steps, about

    @property
    def words(self) -> str:
        """What was measured."""
        models = "the paper's sizes" if not self.at_most else f"models cut down to {dict(self.at_most)}"
        return f"{models}, made-up queries over {self.entities:,} entities, {self.batch} of each structure a step"


LARGE = Size()
SMALL = Size(
    entities=500,
    relations=20,
    queries=500,
    batch=32,
    at_most={"dim": 32, "hidden": 32, "bases": 4, "token_hidden": 16, "heads": 4, "layers": 2},
    seconds=0.2,
)


def measure_speed(
    cases: Iterable[str] = tuple(CASES),
    *,
    device: torch.device,
    size: Size = LARGE,
    commit: str | None = None,
    told: Callable[[str, str, Mapping[str, float]], None] | None = None,
) -> dict[str, Any]:
    """The speed of some methods, as Table 15 reads it.

    told: called with method, "epfo" or "efol", and the figures, as soon as they are there.
    """
    data = {
        "epfo": made_up(EPFO_TRAINED, size.entities, size.relations, size.queries, str(device)),
        "efol": made_up(EFOL_TRAINED, size.entities, size.relations, size.queries, str(device)),
    }
    methods: dict[str, dict[str, dict[str, float]]] = {}
    for name in cases:
        run = read_run(CASES[name])
        for kind, queries in data.items():
            model = _model(run, size, device)
            if kind == "efol" and not model.negation:
                continue
            figures = _time(model, run, queries, size)
            methods.setdefault(name, {})[kind] = figures
            if told is not None:
                told(name, kind, figures)
            del model
            gc.collect()
    return {
        "about": size.words,
        "of_the_papers_size": not size.at_most,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit or commit_here(),
        "machine": device_facts(device),
        "methods": methods,
    }


def _model(run: Run, size: Size, device: torch.device) -> Model:
    settings = run.model_settings
    small = {key: min(value, size.at_most[key]) if key in size.at_most else value for key, value in settings.items()}
    torch.manual_seed(0)
    return build(run.method, small, entities=size.entities, relations=size.relations).to(device)


def _time(model: Model, run: Run, data: TrainingSet, size: Size) -> dict[str, float]:
    """Seconds for 100 steps by turns, and the speed of both ways of making a step."""
    by_turns = _pace(model, run, data, size, turns=True)
    at_once = _pace(model, run, data, size, turns=False)
    queries = size.batch * len(data.structures)
    return {
        "seconds_per_100_steps": round(100 * by_turns, 4),
        "queries_per_second": round(queries / by_turns, 1),
        "seconds_per_100_steps_at_once": round(100 * at_once, 4),
        "queries_per_second_at_once": round(queries / at_once, 1),
    }


def _pace(model: Model, run: Run, data: TrainingSet, size: Size, *, turns: bool) -> float:
    """Seconds a step, after those that compile and capture."""
    names = {structure.name: size.batch for structure in data.structures}
    step = Turns(model, data, names, run.training.update, turns)
    for _ in range(5):
        step.run()
    step.losses()  # waits for the device
    begun = time.perf_counter()
    step.run()
    step.losses()
    once = max(time.perf_counter() - begun, 1e-6)
    count = max(3, min(100, round(size.seconds / once)))

    def work() -> None:
        for _ in range(count):
            step.run()

    return timed(step.device, work) / count
