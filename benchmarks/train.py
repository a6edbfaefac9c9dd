"""Training speed on made-up queries of NELL995's size: whole updates, where their time goes, and variants.

    pathformer bench train [--all] [--cpu]
    pathformer bench train --model all [--out DIR] [--commit HASH] [--cpu]

For 2,560 queries an update (512 of each of five structures) and for 512 mixed: queries a second as the mean of 500
consecutive updates, the share of the measured bf16 matrix rate, peak memory, and a breakdown by kernel and by phase;
then relative positions beside the absolute ones. `--all` adds other settings (forks, norms, layers, EFOL).
Without a CUDA device, or with `--cpu`, a small model is measured on the processor.

`--model` times methods instead: all of them, or one by the name that the tables give it (`--model BetaE`, may be
repeated), queries a second and seconds for 100 steps beside the paper's Table 15. The file that it leaves among the
records is what `pathformer tables 15` shows; on the processor models are small.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import re
import sys
import time
from pathlib import Path

import _speed
import torch
from _record import RESULTS, record

from pathformer.experiments.records import RECORDS
from pathformer.experiments.speed import LARGE, SMALL, made_up, measure_speed, timed
from pathformer.experiments.tables.catalogue import CASES
from pathformer.experiments.tables.paper import RUNNING_TIME
from pathformer.models.pathformer import Config, Pathformer
from pathformer.query.structures import EFOL_TRAINED, EPFO_TRAINED
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep

ENTITIES, RELATIONS, QUERIES = 63_361, 400, 107_982  # NELL995's
EPFO_2560 = dict.fromkeys(EPFO_TRAINED, 512)
EPFO_512 = dict(zip(EPFO_TRAINED, (103, 103, 102, 102, 102), strict=True))


def case(name, data, composition, rate, *, config=None, step=None, updates=500, detail=0):
    """Train from the start, print one line, and with `detail` the longest so many kernels."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Pathformer(config or Config(), data.entities, RELATIONS)
    begun = time.perf_counter()
    trainer = TrainingStep(model, data, composition, step or StepConfig())
    trainer.run(4)
    torch.cuda.synchronize()
    ready = time.perf_counter() - begun
    figures = _speed.speed(trainer, updates)
    losses = trainer.losses()
    held = torch.cuda.max_memory_reserved() / 2**30
    print(
        f"{name:28s} {figures.queries_per_second:9,.0f} q/s  {figures.milliseconds:7.3f} ms  "
        f"{figures.tokens:6,} tokens  "
        f"{figures.teraflops:4.0f} TFLOP/s = {figures.teraflops * 1e12 / rate:5.1%} of measured  "
        f"peak {figures.peak_bytes / 2**30:.2f} GiB (held {held:.2f})  ready in {ready:.1f} s  "
        f"loss {sum(losses.mean.values()) / len(losses.mean):.3f} {dict(losses.diverged)}",
        flush=True,
    )
    found = {"ready_s": ready, **{slot: getattr(figures, slot) for slot in figures.__slots__}}
    if detail:
        times = _speed.breakdown(trainer)
        groups = _speed.kernel_groups(times)
        print(f"  kernels {sum(groups.values()):.3f} ms of {figures.milliseconds:.3f} ms an update")
        for group, spent in sorted(groups.items(), key=lambda item: -item[1]):
            print(f"    {group:22s} {spent:7.3f} ms {spent / sum(groups.values()):6.1%}")
        for kernel, spent in list(times.items())[:detail]:
            print(f"      {spent:7.3f} ms  {kernel[:110]}", flush=True)
        found |= {"groups_ms": groups}
    return found


def phases(data, composition):
    """Milliseconds of growing prefixes of an update, each captured on its own."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Pathformer(Config(), data.entities, RELATIONS)
    trainer = TrainingStep(model, data, composition, StepConfig())
    trainer.run(4)

    def backward():
        trainer.adam.clear()
        trainer.loss(trainer.drawer.draw()).mean().backward()

    parts = {
        "drawing": trainer.drawer.draw,
        "+ encoding": lambda: trainer.network.encode(trainer.batch, trainer.drawer.draw().ids),
        "+ distance and loss": lambda: trainer.loss(trainer.drawer.draw()),
        "+ backward": backward,
        "+ optimiser": trainer.update,
    }
    found = {name: captured(trainer, work) for name, work in parts.items()}
    print("  phases: " + ", ".join(f"{name} {spent:.3f} ms" for name, spent in found.items()), flush=True)
    return found


def captured(trainer, work, replays=20):
    """Milliseconds of a piece of work, replayed as a graph."""
    with torch.cuda.stream(trainer._stream):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=trainer._stream):
        work()
    trainer.adam.settle()
    graph.replay()
    torch.cuda.synchronize()
    spent = timed(trainer.device, lambda: [graph.replay() for _ in range(replays)]) / replays
    trainer.adam.clear()
    return spent * 1e3


def on_processor():
    """A small model, so that the figure exists everywhere."""
    data = made_up(EPFO_TRAINED, 135, 92, 2000, "cpu")
    torch.manual_seed(0)
    trainer = TrainingStep(
        Pathformer(Config(dim=64, layers=2), 135, 92), data, dict.fromkeys(EPFO_TRAINED, 128), StepConfig()
    )
    figures = _speed.speed(trainer, updates=30, warmup=3)
    print(f"processor, d = 64, 2 layers, 5 x 128: {figures.queries_per_second:,.0f} q/s, {figures.milliseconds:.1f} ms")
    return {slot: getattr(figures, slot) for slot in figures.__slots__}


def variants(every):
    """Other settings at 5 x 512, by name: relative positions beside the absolute ones always, the rest on request."""
    relative = {"relative positions": Config(positions="relative")}
    return relative if not every else {
        **relative,
        "no dropout": Config(dropout=0.0),
        "post-norm": Config(norm="post"),
        "Mixer fork": Config(fork="mixer"),
        "MLP2Vector fork": Config(fork="mlp2vector"),
        "set fork": Config(fork="set"),
        "one layer": Config(layers=1),
    }  # fmt: skip


def others(data, rate, every):
    """What other settings and batches give, each with its name as soon as it is measured."""
    for name, config in variants(every).items():
        yield name, case(name, data, EPFO_2560, rate, config=config)
    if every:
        yield "one structure, 512", case("one structure, 512", data, {"2i": 512}, rate)
        more = made_up(EFOL_TRAINED, ENTITIES, RELATIONS, 10_798, "cuda")
        yield "EFOL, 10 x 512", case("EFOL, 10 x 512", more, dict.fromkeys(EFOL_TRAINED, 512), rate)


def methods(names, device, out, commit):
    """Every method's speed, a line each, and the file that Table 15 reads."""
    cases = list(CASES) if "all" in names else names
    if unknown := [name for name in cases if name not in CASES]:
        sys.exit(f"no method {unknown[0]!r}; there are: all, {', '.join(CASES)}")
    size = LARGE if device.type == "cuda" else SMALL
    print(f"{size.words}\n{'':22s}       100 steps     paper    queries/s   in one update: 100 steps    queries/s")

    def told(name, kind, found):
        column = {"epfo": "EPFO Queries", "efol": "FOL Queries"}[kind]
        paper = "" if size is SMALL else RUNNING_TIME.get(name, {}).get(column, "")
        print(
            f"{name:22s} {kind}  {found['seconds_per_100_steps']:8.2f} s  {paper:>8}"
            f"  {found['queries_per_second']:11,.0f}  {found['seconds_per_100_steps_at_once']:23.2f} s"
            f"  {found['queries_per_second_at_once']:11,.0f}",
            flush=True,
        )

    found = measure_speed(cases, device=device, size=size, commit=commit, told=told)
    words = re.sub(r"[^a-z0-9]+", "-", found["machine"]["device"].lower()).strip("-")
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"speed-{words}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("all", "cpu"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--model", action="append", help="a method as the tables call it, or all")
    parser.add_argument("--out", type=Path, help="where the figures go")
    parser.add_argument("--commit", help="with --model: what the file says, where this is no checkout")
    args = parser.parse_args(sys.argv[1:])
    if args.model:
        on_card = torch.cuda.is_available() and not args.cpu
        methods(args.model, torch.device("cuda" if on_card else "cpu"), args.out or RECORDS, args.commit)
        return
    args.out = args.out or RESULTS
    if args.cpu or not torch.cuda.is_available():
        record("train-cpu", on_processor(), args.out)
        return
    rate = _speed.matrix_rate("cuda")
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {platform.python_version()}; "
        f"measured bf16 matrix rate {rate / 1e12:.0f} TFLOP/s",
        flush=True,
    )
    data = made_up(EPFO_TRAINED, ENTITIES, RELATIONS, QUERIES, "cuda")
    found = {
        "device": torch.cuda.get_device_name(),
        "matrix rate": rate,
        "5 x 512": case("EPFO, 5 x 512", data, EPFO_2560, rate, detail=25),
        "512 mixed": case("EPFO, 512 mixed", data, EPFO_512, rate, detail=10),
    }
    found |= {"phases, 5 x 512": phases(data, EPFO_2560), "phases, 512 mixed": phases(data, EPFO_512)}
    record("train", found, args.out)
    for name, figures in others(data, rate, args.all):
        found[name] = figures
        record("train", found, args.out)  # what is cut leaves what it had


if __name__ == "__main__":
    main()
