"""How fast every method trains on one machine: queries a second, and seconds for 100 steps as in the paper's Table 15.

A step is one batch of 512 queries of each trained structure, five for queries without negation and ten with it, an
update each, as in the reference code; the same queries in one update are timed beside it. Queries are made up, of
FB15k-237's size, so that no data are needed; everything else is what a run of the method does, at the paper's size.
"""

from __future__ import annotations

import dataclasses
import gc
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import torch

from pathformer.experiments.settings import Run, read_run
from pathformer.experiments.tables.catalogue import CASES
from pathformer.kg.ragged import Ragged
from pathformer.models._base import Model, build
from pathformer.query.structures import EFOL_TRAINED, EPFO_TRAINED, structure
from pathformer.querysets.queries import Queries
from pathformer.training.data import TrainingSet
from pathformer.training.machine import commit as commit_here
from pathformer.training.machine import device_facts
from pathformer.training.turns import Turns

__all__ = ["LARGE", "SMALL", "Size", "made_up", "measure_speed", "timed"]

MEAN_ANSWERS = {"1p": 2.1, "2p": 20.1, "3p": 28.6, "2i": 3.0, "3i": 2.2}  # NELL995's; 20 for others


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
    by_turns = _pace(model, run, data, size, update_per_structure=True)
    at_once = _pace(model, run, data, size, update_per_structure=False)
    queries = size.batch * len(data.structures)
    return {
        "seconds_per_100_steps": round(100 * by_turns, 4),
        "queries_per_second": round(queries / by_turns, 1),
        "seconds_per_100_steps_at_once": round(100 * at_once, 4),
        "queries_per_second_at_once": round(queries / at_once, 1),
    }


def _pace(model: Model, run: Run, data: TrainingSet, size: Size, *, update_per_structure: bool) -> float:
    """Seconds a step, after those that compile and capture."""
    names = {structure.name: size.batch for structure in data.structures}
    step = Turns(model, data, names, run.training.update, update_per_structure)
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


def made_up(structures: Sequence[str], entities: int, relations: int, queries: int, device: str) -> TrainingSet:
    """Training queries of these structures, `queries` of each, with seed 0.

    Entities are used unevenly, as a benchmark graph's are: with a share of about 1 / rank, which gives hubs.
    """
    rng = np.random.default_rng(0)
    share = 1.0 / (5.0 + np.arange(entities))
    reach = np.cumsum(share / share.sum())
    names = rng.permutation(entities)

    def some(count: int) -> np.ndarray:
        return names[np.minimum(np.searchsorted(reach, rng.random(count)), entities - 1)]

    parts = []
    for name in structures:
        shape = structure(name)
        columns = [
            some(queries) if letter == "e" else rng.integers(relations, size=queries) for letter in shape.columns
        ]
        sizes = rng.geometric(1.0 / MEAN_ANSWERS.get(name, 20.0), size=queries)
        owners = np.repeat(np.arange(queries), sizes)
        keys = np.unique(owners * entities + some(len(owners)))
        ptr = np.searchsorted(keys, np.arange(queries + 1) * entities)
        answers = Ragged(ptr.astype(np.int64), (keys % entities).astype(np.int32))
        nothing = Ragged(np.zeros(queries + 1, np.int64), np.empty(0, np.int32))
        parts.append(Queries(shape, np.stack(columns, axis=1).astype(np.int32), answers, nothing))
    return TrainingSet.of(parts, entities, device)


def timed(device: torch.device, work: Callable[[], Any]) -> float:
    """Seconds of device time where there are events for it, of the clock elsewhere."""
    if device.type == "cuda":
        before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        before.record()
        work()
        after.record()
        after.synchronize()
        return float(before.elapsed_time(after)) / 1e3
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
