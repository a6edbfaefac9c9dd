"""How long an answer takes: an engine of NELL995's size opened, asked one question at a time, and in batches.

    pathformer bench ask [--engine DIR] [--layers 2 6] [--index exact lsh]

Unless --engine names one, the engine is made up: 63,361 entities, 200 relations and 114,000 triples drawn by a power
law, and a Pathformer (d = 800, bf16) with weights as they are before training, which cost as much as trained ones. What
an index that is not exact costs depends on its entities: untrained ones lie in no order, and codes of the greatest
length are chosen for them.

Questions are drawn from the graph, the same number of each of the fourteen structures, answers known and not; `why` is
left out unless it is what is measured. Times are medians, with the 90th percentile and processor time beside them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _made_up import clocked
from _record import record

from pathformer.engine.engine import Engine, load
from pathformer.index._base import build_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.models._base import build
from pathformer.models._encoder import TorchEncoder
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.sampler import sample
from pathformer.symbolic.graph_pair import GraphPair

ENTITIES, RELATIONS, TRIPLES = 63_361, 200, 114_000
OPEN = """
import sys, time
import torch
def now():
    return time.perf_counter(), time.process_time()
start = now()
from pathformer.engine.engine import load
imported = now()
engine = load(sys.argv[1])
opened = now()
engine.ask((0, (0,)), why=False)
times = start, imported, opened, now()
print(*(b - a for before, after in zip(times, times[1:]) for a, b in zip(before, after)))
"""


def made_up_graph() -> KnowledgeGraph:
    """Makes a graph of NELL995's size; some entities have thousands of triples and most a few."""
    random = np.random.default_rng(0)
    columns = [
        (size * random.random(2 * TRIPLES) ** power) for size, power in ((ENTITIES, 2), (RELATIONS, 2), (ENTITIES, 3))
    ]
    triples = np.stack(columns, axis=1).astype(np.int32) * np.array([1, 2, 1], np.int32)
    triples = np.unique(triples, axis=0)
    triples = random.permutation(triples)[:TRIPLES]
    names = Vocabulary.of((f"entity {n}" for n in range(ENTITIES)), (f"relation {n}" for n in range(RELATIONS)))
    return KnowledgeGraph("made up", names, {"train": triples})


def made_up_engine(layers: int, dim: int, index: str) -> Engine:
    torch.manual_seed(0)
    kg = made_up_graph()
    settings = {"dim": dim, "layers": layers}
    model = build("pathformer", settings, entities=ENTITIES, relations=2 * RELATIONS).to(torch.bfloat16).eval()
    encoder = TorchEncoder(model)
    return Engine(kg, encoder, build_for(encoder, index))


def questions(kg: KnowledgeGraph, each: int) -> list[Any]:
    """Draws questions as nested tuples of ids, one of each structure in turn."""
    graphs = GraphPair.of(kg.graph())
    drawn = []
    for structure in STRUCTURES.values():
        rows = sample(structure, graphs, each, seed=1).ids
        rows = rows[np.random.default_rng(0).permutation(len(rows))[:each]]
        drawn.append([structure.instance(row.tolist()) for row in rows])
    return [question for turn in zip(*drawn, strict=True) for question in turn]


def summary(clocks: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Returns milliseconds: median and 90th percentile of the clock, median of processor time."""
    walls = [1000 * wall for wall, _ in clocks]
    return {
        "median_ms": statistics.median(walls),
        "p90_ms": float(np.quantile(walls, 0.9)),
        "processor_ms": 1000 * statistics.median(busy for _, busy in clocks),
    }


def opening(folder: Path) -> dict[str, float]:
    """Measures seconds to import the engine's modules, to open the folder and to answer the first question."""
    runs = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", OPEN, folder], capture_output=True, text=True, check=True)
        runs.append([float(value) for value in done.stdout.split()])
    names = [f"{stage}{kind}_s" for stage in ("import", "open", "first_answer") for kind in ("", "_processor")]
    return dict(zip(names, map(statistics.median, zip(*runs, strict=True)), strict=True))


def measure(engine: Engine, each: int, batch: int) -> dict[str, Any]:
    asked = questions(engine.kg, each)
    for question in asked[:28]:
        engine.ask(question, why=False)  # warm
    many = (asked * (1 + batch // len(asked)))[:batch]
    engine.ask(many, why=False)

    def clock(question: Any, why: bool) -> tuple[float, float]:
        return clocked(lambda: engine.ask(question, why=why))

    together = summary([clock(many, why=False)])
    return {
        "single": summary([clock(question, why=False) for question in asked]),
        "with_why": summary([clock(question, why=True) for question in asked[:42]]),
        "batch": batch,
        "batch_queries_per_s": 1000 * batch / together["median_ms"],
        "batch_queries_per_processor_s": 1000 * batch / together["processor_ms"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", type=Path, help="an engine's folder, instead of one that is made up")
    parser.add_argument("--layers", type=int, nargs="+", default=[2, 6])
    parser.add_argument("--dim", type=int, default=800)
    parser.add_argument("--index", nargs="+", default=["exact"])
    parser.add_argument("--each", type=int, default=10, help="questions of every structure")
    parser.add_argument("--batch", type=int, default=560)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--no-record", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    figures: dict[str, Any] = {"threads": args.threads, "load_before": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as folder:
        if args.engine is not None:
            figures[args.engine.name] = measure(load(args.engine), args.each, args.batch)
        else:
            for layers, index in product(args.layers, args.index):
                name = f"{layers} layers, {index}"
                engine = made_up_engine(layers, args.dim, index)
                place = engine.save(Path(folder) / "engine", force=True)
                index_facts = {"index": asdict(engine.index.config) | engine.index.about}
                measured = measure(load(place), args.each, args.batch)
                figures[name] = {**index_facts, **opening(place), **measured}
                print(name, figures[name], flush=True)
    figures["load_after"] = os.getloadavg()[0]
    if not args.no_record:
        print(record("ask", figures))


if __name__ == "__main__":
    main()
