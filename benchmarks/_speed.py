"""How fast an update is, and where its time goes.

Everything an update does is counted: drawing, filtered negatives, dropout, weights, dense Adam on all tables. The
queries are made up (`experiments.speed.made_up`).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from pathformer.experiments.speed import timed
from pathformer.models._base import Model
from pathformer.nn.transformer import TransformerEncoder
from pathformer.plan.layout import Layout, PathStep
from pathformer.training.step import TrainingStep

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
    """The speed of one composition."""

    queries: int  # an update
    tokens: int  # an update
    milliseconds: float  # an update, mean
    queries_per_second: float
    teraflops: float  # of matrix products, a second
    peak_bytes: int  # of device memory held by tensors


def speed(step: TrainingStep, updates: int = 500, warmup: int = 20) -> Figures:
    """The mean over so many consecutive updates."""
    step.run(warmup)
    _wait(step.device)
    seconds = timed(step.device, lambda: step.run(updates)) / updates
    tokens = sum(part.tokens for part in step.drawer.layout.steps if isinstance(part, PathStep))
    flops = matrix_flops(step.model, step.drawer.layout)
    peak = torch.cuda.max_memory_allocated(step.device) if step.device.type == "cuda" else 0
    return Figures(step.queries, tokens, seconds * 1e3, step.queries / seconds, flops / seconds / 1e12, peak)


def matrix_flops(model: Model, layout: Layout) -> float:
    """Floating-point operations of the linear maps of an update, forward and twice that backward.

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
    """The device's measured bf16 matrix rate, in floating-point operations a second, on random data."""
    left, right = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    seconds = statistics.median(repeated(torch.device(device), lambda: left @ right, 1) for _ in range(repeats))
    return 2.0 * size**3 / seconds


def breakdown(step: TrainingStep, updates: int = 20) -> dict[str, float]:
    """Milliseconds an update spent in kernels, by name, from torch's profiler; longest first."""
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
    """The same, by what kernels are for."""
    groups = dict.fromkeys([*GROUPS, "other"], 0.0)
    for name, spent in times.items():
        group = next((group for group, words in GROUPS.items() if any(word in name for word in words)), "other")
        groups[group] += spent
    return groups


def repeated(device: torch.device, work: Callable[[], Any], times: int = 20) -> float:
    """Seconds of a piece of work, the mean over so many in a row after one that is not counted."""
    work()
    _wait(device)
    return timed(device, lambda: [work() for _ in range(times)]) / times


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
