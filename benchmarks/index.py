"""Nearest entities by every backend: recall beside latency, build time and memory.

    pathformer bench index -- --engine films
    pathformer bench index -- --made-up 63361x800 [--backends exact,lsh --metric l1]

`--engine` takes an engine's table, its space's own distance, the questions that `pathformer index` tunes by, and others
of each of the fourteen structures, walked out of its graph. `--made-up` takes a table that nobody trained, in
groups: good for the time of the backends that look at everything, not for anybody's recall; half of the points tune the
approximate backends, the other half are asked.

Beside ours stand faiss's exact search and torch (`cdist` and `topk`). All take turns, so that a busy moment of the
machine falls on each of them. Processor time stands beside the clock's; ratios to `exact` are those of its medians over
the same rounds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
import torch
from _made_up import clocked
from _record import record
from rich.console import Console
from rich.table import Table

from pathformer import plugins
from pathformer.engine.engine import Engine
from pathformer.engine.engine import load as load_engine
from pathformer.fitting.reindex import sample_query_points, takes
from pathformer.index._base import Index, build, build_for, load
from pathformer.index._rows import prepare
from pathformer.index.kernels.bf16 import to_bf16, to_float32
from pathformer.plan.encoder import Encoder
from pathformer.plan.measure import Measure
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.sampler import sample
from pathformer.symbolic.graph_pair import GraphPair

WANTED = 10
EACH = 48  # questions of a structure that an engine is asked
Array = np.ndarray[Any, Any]
Search = Callable[[Array], Any]


@dataclass(frozen=True, eq=False)
class Case:
    """A table to index, and points to search for."""

    table: Array  # (N, f), bf16 as uint16
    measure: Measure | None  # none for a distance of the encoder's own
    tune: Array  # (some, f), points for the approximate backends to tune by
    asked: dict[str, Array]  # other points, by structure
    mrr: float | None  # an engine's own mean; none where nothing was held out
    encoder: Encoder | None = None

    def build(self, name: str) -> Index:
        if self.measure is None:
            assert self.encoder is not None
            return build_for(self.encoder, name)
        return build(name, self.table, self.measure, points=self.tune)

    @classmethod
    def of_engine(cls, engine: Engine) -> Case:
        """Makes a case of an engine, with questions of all structures that its method answers."""
        graphs, asked = GraphPair.of(engine.kg.graph()), {}
        for name, structure in STRUCTURES.items():
            if not takes(engine.encoder, structure):
                continue
            rows = sample(structure, graphs, EACH, seed=1).ids
            rows = rows[np.random.default_rng(0).permutation(len(rows))[:EACH]]
            if len(rows):
                asked[name] = engine.encoder.points([structure.tree(row.tolist()) for row in rows]).rows
        tune = sample_query_points(engine.kg, engine.encoder)
        encoder = engine.encoder
        return cls(encoder.rows(), encoder.measure, tune, asked, engine.about.get("mrr"), encoder)


def baselines(case: Case) -> dict[str, Search]:
    """Returns exact searches of other libraries over the table in float32."""
    if case.measure is None:
        return {}
    l1, rows = case.measure.kind == "l1", prepare(to_float32(case.table), case.measure)
    tensor = torch.from_numpy(rows)
    plain: dict[bool, Search] = {
        True: lambda points: torch.cdist(torch.from_numpy(points), tensor, p=1).topk(WANTED, largest=False),
        False: lambda points: (torch.from_numpy(points) @ tensor.t()).topk(WANTED),
    }
    if case.measure.kind == "cosine":
        return {"torch": plain[False]}
    import faiss

    flat = faiss.IndexFlat(rows.shape[1], faiss.METRIC_L1 if l1 else faiss.METRIC_INNER_PRODUCT)
    flat.add(rows)
    return {"faiss exact": lambda points: flat.search(points, WANTED), "torch": plain[l1]}


def made_up(size: str, kind: str) -> Case:
    """Makes entities in groups of about a hundred, in bf16, and points between two entities of a group."""
    rows, width = map(int, size.split("x"))
    rng = np.random.default_rng(0)
    group = rng.integers(max(1, rows // 100), size=rows)
    centres = rng.standard_normal((max(1, rows // 100), width), np.float32)
    table = centres[group] + rng.standard_normal((rows, width), np.float32)
    order, first = np.argsort(group), rng.integers(rows - 1, size=512)
    points = (table[order[first]] + table[order[first + 1]]) / 2
    return Case(to_bf16(table), Measure.of(kind), points[0::2], {"made up": points[1::2]}, None)


def recalls(index: Index, truth: Index, asked: dict[str, Array]) -> dict[str, float]:
    """Returns recall@10 of each structure; at equal distances any entity counts."""
    found = {}
    for name, points in asked.items():
        limit = truth.nearest(points, WANTED).distances[:, -1:]
        found[name] = float((index.nearest(points, WANTED).distances <= limit).mean())
    return found


def latencies(searches: dict[str, Search], points: Array, rounds: int, batch: int) -> dict[str, dict[str, float]]:
    """Measures milliseconds of single points and points a second in batches, all backends in turn."""
    single: dict[str, list[tuple[float, float]]] = {name: [] for name in searches}
    many: dict[str, list[tuple[float, float]]] = {name: [] for name in searches}
    together = points[np.arange(batch) % len(points)]
    for search in searches.values():
        search(points[:1]), search(together[:8])
    for turn in range(rounds):
        point = points[turn % len(points)][None]
        for name, search in searches.items():
            single[name].append(clocked(lambda s=search, p=point: s(p)))
        if turn % 50 == 0:
            for name, search in searches.items():
                many[name].append(clocked(lambda s=search: s(together)))
    return {
        name: {
            "ms": 1e3 * median(clock for clock, _ in single[name]),
            "ms_95": 1e3 * quantiles([clock for clock, _ in single[name]], n=20)[-1],
            "cpu_ms": 1e3 * median(busy for _, busy in single[name]),
            "per_second": batch / median(clock for clock, _ in many[name]),
            "cpu_ms_in_batches": 1e3 * median(busy for _, busy in many[name]) / batch,
        }
        for name in searches
    }


def stored_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(case: Case, backends: list[str], rounds: int, batch: int) -> dict[str, Any]:
    asked, truth = case.asked, case.build("exact")
    figures: dict[str, Any] = {}
    searches: dict[str, Search] = {}
    for name in backends:
        begun, busy = time.perf_counter(), time.process_time()
        index = case.build(name)
        seconds, busy = time.perf_counter() - begun, time.process_time() - busy
        by_structure = recalls(index, truth, asked)
        with tempfile.TemporaryDirectory() as folder:
            saved = index.save(Path(folder) / "index")
            opening, _ = clocked(lambda saved=saved: load(saved, case.encoder))
            size = stored_bytes(saved)
        figures[name] = {
            "recall": sum(by_structure.values()) / len(by_structure),
            "recall_worst": min(by_structure.values()),
            "recall_by_structure": by_structure,
            "build_s": seconds,
            "build_cpu_s": busy,
            "load_s": opening,
            "bytes_an_entity": size / len(case.table),
            "about": index.about,
        }
        searches[name] = lambda points, index=index: index.nearest(points, WANTED)
        print(f"{name}: built in {seconds:.1f} s, {index.about}", flush=True)
    searches |= baselines(case)
    points = np.random.default_rng(0).permutation(np.concatenate(list(asked.values())))
    for name, found in latencies(searches, points, rounds, batch).items():
        figures.setdefault(name, {"recall": 1.0, "recall_worst": 1.0}).update(found)
    for found in figures.values():
        found["times_as_fast"] = figures["exact"]["cpu_ms"] / found["cpu_ms"]
        found["times_as_fast_in_batches"] = figures["exact"]["cpu_ms_in_batches"] / found["cpu_ms_in_batches"]
    return figures


def show(figures: dict[str, Any], title: str) -> None:
    columns = {
        "recall@10": "recall .3f", "worst": "recall_worst .3f", "ms": "ms .2f", "95 %": "ms_95 .2f",
        "cpu ms": "cpu_ms .2f", "x exact": "times_as_fast .2f", "points/s": "per_second ,.0f",
        "cpu ms in batches": "cpu_ms_in_batches .2f", "x exact ": "times_as_fast_in_batches .2f",
        "build cpu s": "build_cpu_s .1f", "load s": "load_s .3f", "bytes an entity": "bytes_an_entity ,.0f",
    }  # fmt: skip
    table = Table(title=title, box=None, pad_edge=False)
    table.add_column("backend")
    for column in columns:
        table.add_column(column, justify="right")
    for name, found in figures.items():
        slots = [column.split() for column in columns.values()]
        table.add_row(name, *(format(found[slot], style) if slot in found else "" for slot, style in slots))
    Console(width=160).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--engine", type=Path, help="an engine's table and questions of its graph")
    source.add_argument("--made-up", metavar="ROWSxWIDTH", help="a table that nobody trained")
    parser.add_argument("--backends", default=",".join(plugins.names("indexes")))
    parser.add_argument("--metric", default="l1", choices=["l1", "cosine", "inner"])
    parser.add_argument("--rounds", type=int, default=200, help="single points asked of each backend")
    parser.add_argument("--batch", type=int, default=256, help="points at once")
    given = parser.parse_args()
    case = Case.of_engine(load_engine(given.engine)) if given.engine else made_up(given.made_up, given.metric)
    rows, width = case.table.shape
    threads = torch.get_num_threads()
    metric = "own" if case.measure is None else case.measure.kind
    backends = ["exact", *(name for name in given.backends.split(",") if name != "exact" and metric != "own")]
    figures = measure(case, backends, given.rounds, given.batch)
    show(figures, f"{rows:,} entities, d = {width}, {metric}, {threads} threads")
    facts = {"entities": rows, "dim": width, "metric": metric, "dtype": str(case.table.dtype), "threads": threads}
    name = f"index-{width}-{metric}{'-made-up' if given.made_up else ''}"
    path = record(name, {**facts, "mrr": case.mrr, "backends": figures})
    print(f"written to {path}")


if __name__ == "__main__":
    main()
