"""Training speed of the paper's model on made-up queries of NELL995's size: whole updates, and where their time goes.

    pathformer bench train [--cpu] [--out DIR]

For 2,560 queries an update (512 of each of five structures) and for 512 mixed: queries a second as the mean of 500
consecutive updates, the share of the measured bf16 matrix rate, peak memory, and a breakdown by kernel; then relative
positions beside the absolute ones. Everything an update does is counted: drawing, filtered negatives, dropout, weights,
dense Adam on all tables. Without a CUDA device, or with `--cpu`, a small model is measured on the processor.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from _made_up import made_up, timed
from _record import RESULTS, record

from pathformer.models._base import Model
from pathformer.models.pathformer import Config, Pathformer
from pathformer.nn.transformer import TransformerEncoder
from pathformer.plan.layout import Layout, PathStep
from pathformer.query.structures import EPFO_TRAINED
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep

ENTITIES, RELATIONS, QUERIES = 63_361, 400, 107_982  # NELL995's
EPFO_2560 = dict.fromkeys(EPFO_TRAINED, 512)
EPFO_512 = dict(zip(EPFO_TRAINED, (103, 103, 102, 102, 102), strict=True))

GROUPS: Mapping[str, tuple[str, ...]] = {
    "drawing": ("_draw_", "distribution_elementwise", "random"),
    "matrix products": ("gemm", "nvjet", "cutlass", "splitK", "cublas", "xmma"),
    "attention": ("_attention_",),
    "residual and norm": ("_norm_", "layer_norm"),
    "activation": ("_activation_",),
    "tokens and pooling": ("_enter_", "_pool_", "_ledger_gather", "index_copy", "indexSelect", "index_select"),
    "distance": ("_ledger_distance", "_ledger_points"),
    "table gradients": ("_ledger_write", "Sort", "sort", "searchsorted", "embedding", "indexing_backward"),
    "optimiser": ("_adam",),
    "sums": ("reduce_kernel",),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """How fast updates of one composition are."""

    queries: int  # an update
    tokens: int  # an update
    milliseconds: float  # an update, mean
    queries_per_second: float
    teraflops: float  # of matrix products, a second
    peak_bytes: int  # of device memory held by tensors


def speed(step: TrainingStep, updates: int = 500, warmup: int = 20) -> Figures:
    """Measures the mean over `updates` consecutive updates."""
    step.run(warmup)
    _wait(step.device)
    seconds = timed(step.device, lambda: step.run(updates)) / updates
    tokens = sum(part.tokens for part in step.drawer.layout.steps if isinstance(part, PathStep))
    flops = matrix_flops(step.model, step.drawer.layout)
    peak = torch.cuda.max_memory_allocated(step.device) if step.device.type == "cuda" else 0
    return Figures(step.queries, tokens, seconds * 1e3, step.queries / seconds, flops / seconds / 1e12, peak)


def matrix_flops(model: Model, layout: Layout) -> float:
    """Counts floating-point operations of the linear maps of an update, forward and twice that backward.

    Every linear map of the encoder sees every token once; every one of the fork network sees every pair once. Attention
    itself, norms and distances are no matrix products and not counted.
    """
    encoder = sum(
        module.weight.numel()
        for part in model.modules()
        if isinstance(part, TransformerEncoder)
        for module in part.modules()
        if isinstance(module, torch.nn.Linear)
    )
    every = sum(module.weight.numel() for module in model.modules() if isinstance(module, torch.nn.Linear))
    tokens = sum(step.tokens for step in layout.steps if isinstance(step, PathStep))
    pairs = sum(len(branch) for step in layout.steps if not isinstance(step, PathStep) for branch in step.branches[1:])
    return 6.0 * (encoder * tokens + (every - encoder) * pairs)


def matrix_rate(device: torch.device | str, size: int = 8192, repeats: int = 10) -> float:
    """Measures the device's bf16 matrix rate, in floating-point operations a second, on random data."""
    left, right = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    times = [timed(torch.device(device), lambda: left @ right) for _ in range(repeats + 1)]
    return 2.0 * size**3 / statistics.median(times[1:])


def breakdown(step: TrainingStep, updates: int = 20) -> dict[str, float]:
    """Returns the milliseconds an update spends in each kernel, from torch's profiler, longest first."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        step.run(updates)
        _wait(step.device)
    times: dict[str, float] = {}
    for event in profiler.key_averages():
        spent = float(getattr(event, "self_device_time_total", 0.0))
        if spent > 0:
            times[event.key] = times.get(event.key, 0.0) + spent / updates / 1e3
    return dict(sorted(times.items(), key=lambda item: -item[1]))


def kernel_groups(times: Mapping[str, float]) -> dict[str, float]:
    """Sums the time of kernels by what they are for."""
    groups = dict.fromkeys([*GROUPS, "other"], 0.0)
    for name, spent in times.items():
        group = next((group for group, words in GROUPS.items() if any(word in name for word in words)), "other")
        groups[group] += spent
    return groups


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def measure_case(
    name: str, data: TrainingSet, composition: Mapping[str, int], rate: float, config: Config | None = None
) -> dict[str, Any]:
    """Trains from the start, prints one line and the time of each group of kernels."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Pathformer(config or Config(), data.entities, RELATIONS)
    begun = time.perf_counter()
    trainer = TrainingStep(model, data, composition, StepConfig())
    trainer.run(4)
    torch.cuda.synchronize()
    ready = time.perf_counter() - begun
    figures = speed(trainer)
    print(
        f"{name:28s} {figures.queries_per_second:9,.0f} q/s  {figures.milliseconds:7.3f} ms  "
        f"{figures.tokens:6,} tokens  "
        f"{figures.teraflops:4.0f} TFLOP/s = {figures.teraflops * 1e12 / rate:5.1%} of measured  "
        f"peak {figures.peak_bytes / 2**30:.2f} GiB  ready in {ready:.1f} s",
        flush=True,
    )
    groups = kernel_groups(breakdown(trainer))
    for group, spent in sorted(groups.items(), key=lambda item: -item[1]):
        print(f"    {group:22s} {spent:7.3f} ms {spent / sum(groups.values()):6.1%}", flush=True)
    return {"ready_s": ready, **asdict(figures), "groups_ms": groups}


def on_processor() -> dict[str, Any]:
    """Measures a small model, so that the figure exists on every machine."""
    data = made_up(EPFO_TRAINED, 135, 92, 2000, "cpu")
    torch.manual_seed(0)
    model = Pathformer(Config(dim=64, layers=2), 135, 92)
    figures = speed(TrainingStep(model, data, dict.fromkeys(EPFO_TRAINED, 128), StepConfig()), updates=30, warmup=3)
    print(f"processor, d = 64, 2 layers, 5 x 128: {figures.queries_per_second:,.0f} q/s, {figures.milliseconds:.1f} ms")
    return asdict(figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="measure a small model on the processor")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the figures go")
    args = parser.parse_args(sys.argv[1:])
    if args.cpu or not torch.cuda.is_available():
        record("train-cpu", on_processor(), args.out)
        return
    rate = matrix_rate("cuda")
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {platform.python_version()}; "
        f"measured bf16 matrix rate {rate / 1e12:.0f} TFLOP/s",
        flush=True,
    )
    data = made_up(EPFO_TRAINED, ENTITIES, RELATIONS, QUERIES, "cuda")
    figures = {
        "device": torch.cuda.get_device_name(),
        "matrix rate": rate,
        "5 x 512": measure_case("EPFO, 5 x 512", data, EPFO_2560, rate),
        "512 mixed": measure_case("EPFO, 512 mixed", data, EPFO_512, rate),
        "relative positions": measure_case("relative positions", data, EPFO_2560, rate, Config(positions="relative")),
    }
    record("train", figures, args.out)


if __name__ == "__main__":
    main()
