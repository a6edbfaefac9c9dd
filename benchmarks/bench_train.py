"""Training speed on made-up queries of NELL995's size: whole updates, where their time goes, and variants.

    PYTHONPATH=src python benchmarks/bench_train.py [--quick] [--tune] [--products] [--out FILE.json]

Prints, for 2,560 queries an update (512 of each of five structures) and for 512 mixed, queries a second as the mean of
500 consecutive updates, the share of the measured bf16 matrix rate, peak memory, and a breakdown by kernel.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import time
from contextlib import nullcontext
from pathlib import Path

import torch

from pathformer.models.pathformer import Config, Pathformer
from pathformer.nn.backend import plain
from pathformer.query.structures import EFOL_TRAINED, EPFO_TRAINED
from pathformer.training import bench
from pathformer.training.step import StepConfig, TrainingStep

ENTITIES, RELATIONS, QUERIES = 63_361, 400, 107_982
EPFO_2560 = dict.fromkeys(EPFO_TRAINED, 512)
EPFO_512 = dict(zip(EPFO_TRAINED, (103, 103, 102, 102, 102), strict=True))


def case(name, data, composition, rate, *, config=None, step=None, updates=500, detail=0):
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Pathformer(config or Config(), ENTITIES, RELATIONS)
    begun = time.perf_counter()
    trainer = TrainingStep(model, data, composition, step or StepConfig())
    trainer.run(4)
    torch.cuda.synchronize()
    ready = time.perf_counter() - begun
    figures = bench.speed(trainer, updates)
    losses = trainer.losses()
    free, total = torch.cuda.mem_get_info()
    print(
        f"{name:28s} {figures.queries_per_second:10,.0f} q/s  {figures.milliseconds:7.3f} ms  "
        f"{figures.tokens:6,} tokens  "
        f"{figures.teraflops:5.0f} TFLOP/s = {figures.teraflops * 1e12 / rate:5.1%} of measured  "
        f"peak {figures.peak_bytes / 2**30:.2f} GiB (device {(total - free) / 2**30:.2f})  ready in {ready:.1f} s  "
        f"loss {sum(losses.mean.values()) / len(losses.mean):.3f} {dict(losses.diverged)}",
        flush=True,
    )
    record = {"name": name, "ready_s": ready, **{k: getattr(figures, k) for k in figures.__slots__}}
    if detail:
        times = bench.breakdown(trainer)
        groups = bench.kernel_groups(times)
        total_ms = sum(groups.values())
        print(f"  kernels {total_ms:.3f} ms of {figures.milliseconds:.3f} ms an update")
        for group, spent in sorted(groups.items(), key=lambda item: -item[1]):
            print(f"    {group:22s} {spent:7.3f} ms {spent / total_ms:6.1%}")
        for kernel, spent in list(times.items())[:detail]:
            print(f"      {spent:7.3f} ms  {kernel[:130]}")
        record |= {"groups": groups, "kernels": dict(list(times.items())[:60])}
    del trainer, model
    return record


def check():
    """Gradients of the kernels against plain float32 lines, at the paper's size: relative errors, largest first."""
    data = bench.made_up(EPFO_TRAINED, 5000, 40, 500, "cuda")
    composition = dict.fromkeys(EPFO_TRAINED, 40)
    torch.manual_seed(0)
    model = Pathformer(Config(dropout=0.0), 5000, 40).cuda()
    found = {}
    trainers = [TrainingStep(model, data, composition, StepConfig(precision=p)) for p in ("bf16", "fp32", "fp32")]
    drawn = trainers[0].drawer.draw()
    for trainer, lines in zip(trainers, (nullcontext(), nullcontext(), plain()), strict=True):
        with lines:
            trainer.adam.clear()
            trainer.loss(drawn).mean().backward()
            found[trainer] = [slot.working.grad.float().clone() for slot in trainer.adam.slots]
    names = [slot.name for slot in trainers[0].adam.slots]
    for label, trainer in (("bf16", trainers[0]), ("fp32", trainers[1])):
        pairs = zip(names, found[trainer], found[trainers[2]], strict=True)
        errors = sorted((((a - b).norm() / b.norm()).item(), name) for name, a, b in pairs)[::-1]
        print(f"gradients, {label} kernels against plain fp32, relative error: "
              + ", ".join(f"{name} {error:.1e}" for error, name in errors[:4])
              + f"; median {errors[len(errors) // 2][0]:.1e}", flush=True)  # fmt: skip


def phases(data, composition):
    """Milliseconds of growing prefixes of an update, each captured on its own."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Pathformer(Config(), ENTITIES, RELATIONS)
    trainer = TrainingStep(model, data, composition, StepConfig())
    trainer.run(4)

    def draw():
        trainer.drawer.draw()

    def forward():
        trainer.loss(trainer.drawer.draw())

    def backward():
        trainer.adam.clear()
        trainer.loss(trainer.drawer.draw()).mean().backward()

    def encode():
        drawn = trainer.drawer.draw()
        trainer.network.encode(trainer.batch, drawn.ids)

    found = {}
    for name, work in [
        ("draw", draw),
        ("+encode", encode),
        ("+loss", forward),
        ("+backward", backward),
        ("all", trainer.update),
    ]:
        stream = trainer._stream
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            work()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            work()
        if name == "all":
            trainer.adam.settle()
        for _ in range(3):
            graph.replay()
        torch.cuda.synchronize()

        def replay(graph=graph):
            for _ in range(20):
                graph.replay()

        found[name] = bench._timed(trainer.device, replay) / 20 * 1e3
        trainer.adam.clear()
        del graph
    print("  phases: " + ", ".join(f"{name} {spent:.3f} ms" for name, spent in found.items()))
    return found


def products(rate):
    """The matrix products of an update, one by one: where cuBLAS is good and where it is not."""
    print("matrix products, bf16, ms and TFLOP/s")
    found = {}
    for tokens in (9728, 1946):
        total = 0.0
        for name, (m, n, k, layout) in {
            "qkv": (tokens, 2400, 800, "nt"), "out": (tokens, 800, 800, "nt"),
            "expand": (tokens, 3200, 800, "nt"), "contract": (tokens, 800, 3200, "nt"),
            "d qkv": (tokens, 800, 2400, "nn"), "d out": (tokens, 800, 800, "nn"),
            "d expand": (tokens, 800, 3200, "nn"), "d contract": (tokens, 3200, 800, "nn"),
            "w qkv": (2400, 800, tokens, "tn"), "w out": (800, 800, tokens, "tn"),
            "w expand": (3200, 800, tokens, "tn"), "w contract": (800, 3200, tokens, "tn"),
        }.items():  # fmt: skip
            a = torch.randn((k, m) if layout[0] == "t" else (m, k), device="cuda", dtype=torch.bfloat16)
            b = torch.randn((n, k) if layout[1] == "t" else (k, n), device="cuda", dtype=torch.bfloat16)
            left, right = (a.t() if layout[0] == "t" else a), (b.t() if layout[1] == "t" else b)

            def work(left=left, right=right):
                for _ in range(20):
                    left @ right

            work()
            torch.cuda.synchronize()
            spent = bench._timed(torch.device("cuda"), work) / 20
            total += spent
            found[f"{tokens} {name}"] = spent * 1e3
            achieved = 2 * m * n * k / spent / 1e12
            print(f"  {tokens:6d} {name:11s} {m:5d} x {n:5d} x {k:5d}  {spent * 1e3:7.4f}  {achieved:5.0f}")
        print(f"  {tokens:6d} a layer {total * 1e3:.3f} ms, six {6 * total * 1e3:.3f} ms")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="no cases beside the two of the target")
    parser.add_argument("--tune", action="store_true", help="try launch settings of the kernels first, keep the best")
    parser.add_argument("--products", action="store_true", help="matrix products one by one")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    check()
    if args.tune:
        from tune_kernels import tune

        tune()
    rate = bench.matrix_rate("cuda")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {platform.python_version()}; "
          f"measured bf16 matrix rate {rate / 1e12:.0f} TFLOP/s", flush=True)  # fmt: skip
    begun = time.perf_counter()
    data = bench.made_up(EPFO_TRAINED, ENTITIES, RELATIONS, QUERIES, "cuda")
    print(f"made up {len(data):,} queries with {len(data.answers):,} answers in {time.perf_counter() - begun:.1f} s")
    records = [
        case("EPFO, 5 x 512", data, EPFO_2560, rate, detail=45),
        case("EPFO, 512 mixed", data, EPFO_512, rate, detail=12),
    ]
    phases(data, EPFO_2560)
    phases(data, EPFO_512)
    if args.products:
        products(rate)
    if not args.quick:
        relative = Config(positions="relative")
        records += [
            case("relative positions, 5 x 512", data, EPFO_2560, rate, config=relative, updates=200, detail=12),
            case("unfiltered negatives", data, EPFO_2560, rate, step=StepConfig(filtered=False), updates=100),
            case("no dropout", data, EPFO_2560, rate, config=Config(dropout=0.0), updates=100),
            case("Mixer fork", data, EPFO_2560, rate, config=Config(fork="mixer"), updates=100),
            case("set fork", data, EPFO_2560, rate, config=Config(fork="set"), updates=100),
            case("post-norm", data, EPFO_2560, rate, config=Config(norm="post"), updates=100),
            case("one layer, 5 x 512", data, EPFO_2560, rate, config=Config(layers=1), updates=200),
            case("one structure, 512", data, {"2i": 512}, rate, updates=200),
        ]
        more = bench.made_up(EFOL_TRAINED, ENTITIES, RELATIONS, 10_798, "cuda")
        records.append(case("EFOL, 10 x 512", more, dict.fromkeys(EFOL_TRAINED, 512), rate, updates=100))
    if args.out:
        args.out.write_text(
            json.dumps({"device": torch.cuda.get_device_name(), "rate": rate, "cases": records}, indent=1)
        )


if __name__ == "__main__":
    main()
