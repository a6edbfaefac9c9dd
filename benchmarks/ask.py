"""How long an answer takes: an engine of NELL995's size opened, asked one question at a time, and in batches.

Unless --engine names one, the engine is made up: 63,361 entities, 200 relations and 114,000 triples drawn by a power
law, and a Pathformer (d = 800, bf16) with weights as they are before training, which cost as much as trained ones. What
an index that is not exact costs depends on its entities: untrained ones lie in no order, and codes of the greatest
length are chosen for them. `--embeddings` takes a folder of `index_embeddings.py` instead: its trained entities, and
its points of test queries to tune by. (The network stays as it is, so the questions' own points lie elsewhere; neither
the codes that are read nor the candidates that are measured become fewer or more by that.)

Questions are drawn from the graph, the same number of each of the fourteen structures, answers known and not; `why` is
left out unless it is what is measured. Times are medians, with the 90th percentile and processor time beside them. On a
machine that does other work `--patience` waits for quiet moments (`_quiet`): their figures are the quietest of so many
seconds, and what others used of the machine in them is told.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _quiet import Clock, quietest, watch
from _record import record
from index_embeddings import Embeddings, read

from pathformer.engine.engine import Engine, load
from pathformer.engine.question import read_question
from pathformer.engine.search import nearest
from pathformer.index import build as build_index
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.vocab import Vocabulary
from pathformer.models import build
from pathformer.query.structures import STRUCTURES
from pathformer.symbolic.answer import answer
from pathformer.symbolic.pairs import GraphPair
from pathformer.symbolic.sample import sample

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
    """A graph of NELL995's size; some entities have thousands of triples and most a few."""
    random = np.random.default_rng(0)
    columns = [
        (size * random.random(2 * TRIPLES) ** power) for size, power in ((ENTITIES, 2), (RELATIONS, 2), (ENTITIES, 3))
    ]
    triples = np.stack(columns, axis=1).astype(np.int32) * np.array([1, 2, 1], np.int32)
    triples = np.unique(triples, axis=0)
    triples = random.permutation(triples)[:TRIPLES]
    names = Vocabulary.of((f"entity {n}" for n in range(ENTITIES)), (f"relation {n}" for n in range(RELATIONS)))
    return KnowledgeGraph("made up", names, {"train": triples})


def made_up_engine(layers: int, dtype: torch.dtype, dim: int, index: str, given: Embeddings | None = None) -> Engine:
    torch.manual_seed(0)
    kg = made_up_graph()
    settings = {"dim": dim, "layers": layers}
    model = build("pathformer", settings, entities=ENTITIES, relations=2 * RELATIONS).to(dtype).eval()
    if given is not None:
        with torch.no_grad():
            model.entities.weight.copy_(given.entities)
    points = None if given is None else given.sample(256)
    return Engine(kg, model, build_index(index, model.entities.weight.detach(), model.space, points=points))


def questions(kg: KnowledgeGraph, each: int) -> list[Any]:
    """Nested tuples of ids, structures taking turns."""
    graphs = GraphPair.of(kg.graph())
    drawn = []
    for structure in STRUCTURES.values():
        rows = sample(structure, graphs, each, seed=1).ids
        rows = rows[np.random.default_rng(0).permutation(len(rows))[:each]]
        drawn.append([structure.instance(row.tolist()) for row in rows])
    return [question for turn in zip(*drawn, strict=True) for question in turn]


def stages(engine: Engine, question: Any) -> dict[str, Clock]:
    """What the parts of one answer take, one after the other, as they find the caches in an answer."""
    graph = engine.kg.graph()
    asked, read_ = watch(lambda: read_question(question, engine.kg))
    _, traverse = watch(lambda: answer(asked.tree, graph))
    points, encode = watch(lambda: engine.encoder.points([asked.tree]))
    _, search = watch(lambda: nearest(engine.index, points.rows, 64))
    return {"read": read_, "traverse": traverse, "encode": encode, "search": search}


def opening(folder: Path) -> dict[str, float]:
    """Wall and processor seconds to import the engine's modules, to open the folder, to answer the first question."""
    runs = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", OPEN, folder], capture_output=True, text=True, check=True)
        runs.append([float(value) for value in done.stdout.split()])
    names = [f"{stage}{kind}_s" for stage in ("import", "open", "first_answer") for kind in ("", "_processor")]
    return dict(zip(names, map(statistics.median, zip(*runs, strict=True)), strict=True))


def measure(engine: Engine, each: int, batch: int, patience: float) -> dict[str, Any]:
    asked = questions(engine.kg, each)
    for question in asked[:28]:
        engine.ask(question, why=False)  # warm
    many = (asked * (1 + batch // len(asked)))[:batch]
    engine.ask(many, why=False)

    def one(why: bool) -> Callable[[Any], dict[str, Clock]]:
        return lambda question: {"ask": watch(lambda: engine.ask(question, why=why))[1]}

    together = quietest(lambda _: {"ask": watch(lambda: engine.ask(many, why=False))[1]}, [None], patience)["ask"]
    return {
        "single": quietest(one(why=False), asked, patience)["ask"],
        "stages": quietest(lambda question: stages(engine, question), asked, patience),
        "with_why": quietest(one(why=True), asked[:42], 0.0)["ask"],
        "batch": batch,
        "batch_queries_per_s": 1000 * batch / together["median_ms"],
        "batch_queries_per_processor_s": 1000 * batch / together["processor_ms"],
        "batch_others": together["others"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", type=Path, help="an engine's folder, instead of one that is made up")
    parser.add_argument("--embeddings", type=Path, help="trained entities of the same size, for what is made up")
    parser.add_argument("--layers", type=int, nargs="+", default=[2, 6])
    parser.add_argument("--dim", type=int, default=800)
    parser.add_argument("--float32", action="store_true", help="float32 weights too, to compare with")
    parser.add_argument("--index", nargs="+", default=["exact"])
    parser.add_argument("--each", type=int, default=10, help="questions of every structure")
    parser.add_argument("--batch", type=int, default=560)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--patience", type=float, default=0.0, help="seconds to wait for quiet moments, each time")
    parser.add_argument("--no-record", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    figures: dict[str, Any] = {"threads": args.threads, "load_before": os.getloadavg()[0]}
    given = None if args.embeddings is None else read(args.embeddings)
    if given is not None and given.entities.shape != (ENTITIES, args.dim):
        rows, dim = given.entities.shape
        parser.error(f"{args.embeddings} holds {rows:,} entities of {dim}, not {ENTITIES:,} of {args.dim}: see --dim")
    figures["entities"] = "untrained" if given is None else "trained"
    with tempfile.TemporaryDirectory() as folder:
        if args.engine is not None:
            figures[args.engine.name] = measure(load(args.engine), args.each, args.batch, args.patience)
        else:
            kinds = [torch.bfloat16, torch.float32] if args.float32 else [torch.bfloat16]
            for layers, dtype, index in product(args.layers, kinds, args.index):
                name = f"{layers} layers, {str(dtype).removeprefix('torch.')}, {index}"
                engine = made_up_engine(layers, dtype, args.dim, index, given)
                place = engine.save(Path(folder) / "engine", force=True)
                index_facts = {"index": asdict(engine.index.config) | engine.index.about}
                measured = measure(load(place), args.each, args.batch, args.patience)
                figures[name] = {**index_facts, **opening(place), **measured}
                print(name, figures[name], flush=True)
    figures["load_after"] = os.getloadavg()[0]
    if not args.no_record:
        print(record("ask", figures))


if __name__ == "__main__":
    main()
