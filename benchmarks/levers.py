"""What each lever gives at equal minutes: `PYTHONPATH=src python benchmarks/levers.py RUN MINUTES OUT [LEVER ...]`.

    pathformer bench levers -- fast-fb15k-237 3 runs/levers margin softmax all-answers
    pathformer bench levers -- --speed
    pathformer bench levers -- --list

RUN is a run file; MINUTES the box of each lever. A lever is a name of the list below, or `name:key=value,key=value`
with settings of its own; each stands alone on top of RUN. One with `start` trains a link predictor first, within
minutes of its own, which are added. Levers share the graph and the queries. They are judged on validation queries: test
queries are ranked once, by the run that is chosen. Unions are ranked in every way that disjuncts can be combined.
Writes `levers.json` and `levers.md` to OUT after every lever.
`--speed` times captured updates on made-up queries of both benchmarks' sizes instead, on a card.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from _record import record

from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.experiments.run import Material, gather, train_run
from pathformer.experiments.settings import read_run
from pathformer.models import Combine
from pathformer.models.pathformer import Config, Pathformer
from pathformer.query.structures import EPFO, EPFO_TRAINED, NEGATION_STRUCTURES
from pathformer.training import bench, checkpoint
from pathformer.training.device import choose_device
from pathformer.training.options import SoftmaxOptions, StepConfig
from pathformer.training.step import TrainingStep

UPDATE = "training.update."
GRAPHS = {"FB15k-237": (14_505, 474), "NELL995": (63_361, 400)}  # entities, relations


@dataclass(frozen=True)
class Lever:
    """Settings on top of the run, and what was expected of them before they were measured."""

    settings: tuple[str, ...]
    expected: str = ""


LEVERS = {  # what was expected: the words of those who proposed them, before anything was measured
    "recipe": Lever((), "the run as it is"),
    "margin": Lever(
        ("model.space=point", f"{UPDATE}objective=margin", f"{UPDATE}table_rate=1.0", "model.combine=smallest"),
        "the paper's loss in the same time: far behind",
    ),
    "start": Lever(("start=complex-{dataset}",), "2 to 4 points on 1p alone, more on NELL995"),
    "frozen": Lever(("start=complex-{dataset}", f"{UPDATE}table_rate=0.0"), "the same, tables kept as they start"),
    "one-answer": Lever((f"{UPDATE}softmax.targets=1",), "all answers as targets beat one at a time"),
    "l1": Lever(
        ("model.space=point", f"{UPDATE}softmax.entities=drawn", f"{UPDATE}negatives=512"),
        "L1 and cosine to be compared at equal time",
    ),
    "fixed-queries": Lever(("training.fresh=0",), "fresh queries beat a fixed set"),
    "smallest": Lever(("model.combine=smallest",), "2u 9.9 against 14.9: disjuncts are not comparable"),
    "no-average": Lever((f"{UPDATE}ema=0.0",), "weight averaging gains a little"),
    "weighted": Lever((f"{UPDATE}power=-0.5",), "the reference code's weights; not said"),
    "unweighted": Lever((f"{UPDATE}weighted=false",), "not said"),
    "upward": Lever((f"{UPDATE}power=0.5",), "links of hubs, so 2u and up, gain"),
    "membership": Lever(("model.combine=membership",), "disjuncts of many answers are not drowned"),
    "mlp-fork": Lever(("model.fork=mlp",), "an order-free fork gains a little"),
    "relative": Lever(("model.positions=relative",), "relative positions gain a little"),
    "one-layer": Lever(("model.layers=1",), "model size against time"),
    "six-layers": Lever(("model.layers=6",), "model size against time"),
    "half-batch": Lever(("training.batch=256",), "larger batches gain"),
    "double-rate": Lever((f"{UPDATE}rate=1e-3",), "schedule"),
    "cosine-decay": Lever(("training.schedule=cosine",), "schedule"),
    "no-dropout": Lever(("model.dropout=0.0",), "not said"),
    "dropout": Lever(("model.dropout=0.3",), "0.2 with smoothing 0.3 changed nothing"),
    "smoothing": Lever((f"{UPDATE}softmax.smoothing=0.1",), "0.3 with dropout 0.2 changed nothing"),
}


def main(name: str, minutes: str, out: str, *chosen: str) -> None:
    """Train every lever, one after the other."""
    folder, rows, material = Path(out), {}, None
    for title in chosen or LEVERS:
        lever = _lever(title, read_run(name).dataset)
        run = read_run(name, [*lever.settings, f"training.minutes={minutes}"])
        begun = time.monotonic()
        material = material or gather(run)
        print(f"{title}: {', '.join(lever.settings) or 'as it is'} (queries ready in {time.monotonic() - begun:.0f} s)")
        _start_memory()
        outcome = train_run(run, folder / title.partition(":")[0], material=material, test=False)
        rows[title] = {"expected": lever.expected, "settings": list(lever.settings)} | _figures(outcome, folder, title)
        rows[title]["unions"] = _unions(outcome, material, run.valid_queries)
        print(
            title, {key: round(value, 2) for key, value in rows[title].items() if isinstance(value, float)}, flush=True
        )
        record("levers", {"run": name, "minutes": float(minutes), "device": _device(), "levers": rows}, folder)
        (folder / "levers.md").write_text(_markdown(rows), encoding="utf-8")


def _lever(title: str, dataset: str) -> Lever:
    name, colon, settings = title.partition(":")
    if colon:
        return Lever(tuple(settings.split(",")))
    if name not in LEVERS:
        sys.exit(f"no lever {name!r}; there are: {', '.join(LEVERS)}")
    lever = LEVERS[name]
    return Lever(tuple(setting.format(dataset=dataset) for setting in lever.settings), lever.expected)


def _figures(outcome: Any, folder: Path, title: str) -> dict[str, Any]:
    """Steps, speed, memory, and the last validation by structure, in percent."""
    text = (folder / title.partition(":")[0] / "log.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    rates = sorted(line["queries_per_second"] for line in lines if "queries_per_second" in line)
    curve = [(line["seconds"], 100 * line["valid/mrr"]) for line in lines if "valid/mrr" in line]
    last = [line for line in lines if "valid/mrr" in line][-1]
    mrr = {key.removeprefix("valid/"): 100 * value for key, value in last.items() if key.startswith("valid/")}
    averages = {
        title: sum(mrr[name] for name in group) / len(group)
        for title, group in (("EPFO", EPFO), ("negation", NEGATION_STRUCTURES))
        if set(group) <= mrr.keys()
    }
    held = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    speed = {"steps": outcome.result.step, "queries_per_second": rates[len(rates) // 2], "peak_gib": held}
    return {**speed, **averages, **mrr, "curve": curve}


def _unions(outcome: Any, material: Material, count: int | None) -> dict[str, dict[str, float]]:
    """Unions of the best weights, ranked in every way that disjuncts can be combined: validation MRR in percent."""
    model, _ = checkpoint.load_model(outcome.result.best or outcome.result.last, choose_device())
    asked = {
        name: queries.take(np.arange(min(count or len(queries), len(queries))))
        for name, queries in material.sets["valid"].items()
        if name in ("2u", "up")
    }
    found = {}
    for way in get_args(Combine):
        model.combine = way
        scores = evaluate(ModelRanker(model), asked).scores
        found[way] = {name: 100 * score.mrr for name, score in scores.items()}
    print("  unions:", {way: {n: round(v, 2) for n, v in values.items()} for way, values in found.items()}, flush=True)
    return found


def _markdown(rows: dict[str, dict[str, Any]]) -> str:
    """One line a lever; figures are validation MRR in percent."""
    first = next(iter(rows.values()))
    shown = [name for name in ("EPFO", "negation", *EPFO, *NEGATION_STRUCTURES) if name in first]
    lines = [f"| lever | steps | queries/s | {' | '.join(shown)} | expected |"]
    lines.append("|---" + "|--:" * (2 + len(shown)) + "|---|")
    for title, row in rows.items():
        cells = [f"{row[name]:.1f}" for name in shown]
        speed = f"{row['steps']:,} | {row['queries_per_second']:,.0f}"
        lines.append(f"| {title} | {speed} | {' | '.join(cells)} | {row['expected']} |")
    return "\n".join(lines) + "\n"


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
    found: dict[str, Any] = {"device": _device()}
    for graph, (entities, relations) in GRAPHS.items():
        data = bench.made_up(EPFO_TRAINED, entities, relations, 100_000, "cuda")
        for batch in (256, 512):
            for title, (config, step) in list(cases.items())[: 4 if batch == 512 else 2]:
                _start_memory()
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


def _start_memory() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def _device() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "processor"


if __name__ == "__main__":
    if sys.argv[1:] == ["--speed"]:
        speed()
    elif sys.argv[1:] == ["--list"]:
        for name, lever in LEVERS.items():
            print(f"{name:12s} {' '.join(lever.settings)}")
    elif len(sys.argv) < 4:
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
