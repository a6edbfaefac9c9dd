"""How fast captured updates are on a card: `benchmarks/levers.py --speed`."""

from __future__ import annotations

import gc
from typing import Any

import torch
from _record import record

from pathformer.models.pathformer import Config, Pathformer
from pathformer.query.structures import EPFO_TRAINED
from pathformer.training import bench
from pathformer.training.options import SoftmaxOptions, StepConfig
from pathformer.training.step import TrainingStep

GRAPHS = {"FB15k-237": (14_505, 474), "NELL995": (63_361, 400)}  # entities, relations


def speed() -> None:
    """Captured updates at both sizes: queries a second and memory, of the paper's objective and the softmax."""
    cases = {
        "margin, L1": (Config(), StepConfig()),
        "softmax, cosine": (Config(space="sphere"), StepConfig(objective="softmax")),
        "softmax, cosine, average": (Config(space="sphere"), StepConfig(objective="softmax", ema=0.999)),
        "softmax, L1, 512 drawn": (
            Config(),
            StepConfig(objective="softmax", negatives=512, softmax=SoftmaxOptions(entities="drawn")),
        ),
    }
    found: dict[str, Any] = {"device": device_name()}
    for graph, (entities, relations) in GRAPHS.items():
        data = bench.made_up(EPFO_TRAINED, entities, relations, 100_000, "cuda")
        for batch in (256, 512):
            for title, (config, step) in list(cases.items())[: 4 if batch == 512 else 2]:
                start_memory()
                torch.manual_seed(0)
                with torch.device("cuda"):
                    model = Pathformer(config, entities, relations)
                made = TrainingStep(model, data, dict.fromkeys(EPFO_TRAINED, batch), step)
                figures = bench.speed(made, updates=60, warmup=8)
                found[f"{graph}, 5 x {batch}, {title}"] = {
                    name: getattr(figures, name) for name in ("queries_per_second", "milliseconds", "peak_bytes")
                }
                print(
                    f"{graph:10s} 5 x {batch}  {title:26s} {figures.queries_per_second:9,.0f} q/s "
                    f"{figures.milliseconds:7.3f} ms  peak {figures.peak_bytes / 2**30:.2f} GiB  "
                    f"captured {made._graph is not None}  diverged {dict(made.losses().diverged)}",
                    flush=True,
                )
                del made, model
    print("written to", record("levers-speed", found))


def start_memory() -> None:
    """Count the most memory from here on."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def device_name() -> str:
    """Where it computes, in words."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "processor"
