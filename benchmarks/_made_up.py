"""Made-up training queries, and the time of a piece of work, for benchmarks that need no data."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from pathformer.kg.ragged import Ragged
from pathformer.query.structures import structure
from pathformer.querysets.queries import Queries
from pathformer.training.data import TrainingSet

MEAN_ANSWERS = {"1p": 2.1, "2p": 20.1, "3p": 28.6, "2i": 3.0, "3i": 2.2}  # NELL995's; 20 for others


def made_up(structures: Sequence[str], entities: int, relations: int, queries: int, device: str) -> TrainingSet:
    """Makes `queries` training queries of each structure, always the same.

    Entities are used unevenly, as a benchmark graph's are: with a share of about 1 / rank, which gives hubs.
    """
    rng = np.random.default_rng(0)
    share = 1.0 / (5.0 + np.arange(entities))
    reach = np.cumsum(share / share.sum())
    names = rng.permutation(entities)

    def draw_entities(count: int) -> np.ndarray:
        return names[np.minimum(np.searchsorted(reach, rng.random(count)), entities - 1)]

    parts = []
    for name in structures:
        shape = structure(name)
        columns = [
            draw_entities(queries) if letter == "e" else rng.integers(relations, size=queries)
            for letter in shape.columns
        ]
        sizes = rng.geometric(1.0 / MEAN_ANSWERS.get(name, 20.0), size=queries)
        owners = np.repeat(np.arange(queries), sizes)
        keys = np.unique(owners * entities + draw_entities(len(owners)))
        ptr = np.searchsorted(keys, np.arange(queries + 1) * entities)
        answers = Ragged(ptr.astype(np.int64), (keys % entities).astype(np.int32))
        parts.append(Queries(shape, np.stack(columns, axis=1).astype(np.int32), answers, Ragged.empty(queries)))
    return TrainingSet.of(parts, entities, device)


def timed(device: torch.device, work: Callable[[], Any]) -> float:
    """Returns the seconds of a piece of work: device time on a card, clock time elsewhere."""
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


def clocked(work: Callable[[], Any]) -> tuple[float, float]:
    """Returns the seconds of a piece of work by the clock, and of all threads of this process on a processor."""
    begun, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begun, time.process_time() - busy
