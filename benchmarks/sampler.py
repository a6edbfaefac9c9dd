"""Measures drawing and answering queries: beside a plain Python twin, whole benchmarks, 10 million entities.

Rates are of distinct queries with all their answers. The twin (`_twin.py`) runs in the same process right before, so
the ratio holds on any machine; the seconds do not.

    pathformer bench sampler [--cases twin,benchmark,bulk,large] [--data FOLDER]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from _record import record
from _twin import Twin

from pathformer.kg.datasets import load
from pathformer.kg.graph import Graph
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.protocol import sample_benchmark
from pathformer.querysets.query_sets import graph_pair
from pathformer.querysets.sampler import Rules, draw_rows, sample
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.graph_pair import GraphPair

LIMIT = 100
STRUCTURES_TIMED = {"2p": 200, "3p": 200, "pin": 200, "2i": 30, "3i": 30}  # with the ratio each should reach


def twin(data: Path | None) -> dict[str, Any]:
    """Measures rates on FB15k-237's training graph at a limit of 100 answers, and their ratio to the twin's."""
    kg = load("fb15k-237", data)
    pair = GraphPair.of(kg.graph("train"))
    plain = Twin(map(tuple, kg.splits["train"].tolist()), LIMIT)
    figures: dict[str, Any] = {}
    for name, aim in STRUCTURES_TIMED.items():
        kind = STRUCTURES[name]
        draw_rows(kind, pair, 10, rules=Rules(limit=LIMIT))  # compiled and warm
        rounds = [_round(kind, pair, plain, 60_000) for _ in range(5)]
        ours, theirs = median(r[0] for r in rounds), median(r[1] for r in rounds)
        low, *_, high = sorted(r[0] / r[1] for r in rounds)
        figures[name] = {
            "ours_per_s": round(ours),
            "twin_per_s": round(theirs),
            "ratio": round(ours / theirs),
            "ratio_lowest": round(low),
            "ratio_highest": round(high),
            "aim": aim,
        }
        print(
            f"{name:4} {ours:10,.0f}/s  twin {theirs:8,.0f}/s  {ours / theirs:6,.0f} times ({low:,.0f} to {high:,.0f})"
        )
    return figures


def _round(kind: Any, pair: GraphPair, plain: Twin, count: int) -> tuple[float, float]:
    seen: dict[Any, set[int]] = {}
    started = perf_counter()
    while perf_counter() - started < 2:
        plain.draw(kind, seen)
    theirs = len(seen) / (perf_counter() - started)
    started = perf_counter()
    drawn = sample(kind, pair, count, rules=Rules(limit=LIMIT))
    return len(drawn) / (perf_counter() - started), theirs


def benchmark(data: Path | None) -> dict[str, Any]:
    """Measures drawing the complete FB15k-237 benchmark: train, valid and test with all answers."""
    kg = load("fb15k-237", data)
    started = perf_counter()
    drawn = sample_benchmark(kg)
    seconds = perf_counter() - started
    queries = sum(len(q) for split in drawn.splits.values() for q in split.values())
    answers = sum(len(q.easy.values) + len(q.hard.values) for split in drawn.splits.values() for q in split.values())
    print(f"FB15k-237 whole: {queries:,} queries, {answers:,} answers in {seconds:.1f} s")
    return {"seconds": round(seconds, 2), "aim_s": 30, "queries": queries, "answers": answers}


def bulk(data: Path | None) -> dict[str, Any]:
    """Measures answering a NELL995 test set on two graphs."""
    kg = load("nell995", data)
    drawn, pair = sample_benchmark(kg, splits=["test"])["test"], graph_pair(kg, "test")
    times = []
    for _ in range(5):
        started = perf_counter()
        for queries in drawn.values():
            answer_rows(queries.structure, queries.ids, pair)
        times.append(perf_counter() - started)
    count = sum(map(len, drawn.values()))
    print(f"NELL995 test, {count:,} queries on two graphs: {median(times):.2f} s (5 runs, worst {max(times):.2f})")
    return {"queries": count, "median_s": round(median(times), 3), "worst_s": round(max(times), 3), "aim_s": 3}


def large(data: Path | None) -> dict[str, Any]:
    """Measures a graph of 10^7 entities and 5 x 10^7 edges, in its own process whose peak memory is read."""
    run = subprocess.run([sys.executable, __file__, "--inner-large"], capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    print(f"10^7 entities, 5 x 10^7 edges: {figures}")
    return figures


def _large() -> None:
    entities, edges, relations = 10**7, 5 * 10**7, 1000
    rng = np.random.default_rng(0)
    started = perf_counter()
    triples = np.empty((edges, 3), np.int32)
    triples[:, 0] = entities * rng.random(edges, np.float32) ** 2  # some entities have many edges
    triples[:, 1] = 2 * rng.integers(0, relations // 2, edges, np.int32)
    triples[:, 2] = rng.integers(0, entities, edges, np.int32)
    made = perf_counter()
    graph = Graph.from_triples(triples, entities, relations)
    del triples
    indexed = perf_counter()
    pair = GraphPair.of(graph)
    pair.edges()
    figures: dict[str, Any] = {
        "generate_s": made - started,
        "index_s": indexed - made,
        "pair_s": perf_counter() - indexed,
    }
    for name in ("2p", "3p", "2i", "pin"):
        sample(STRUCTURES[name], pair, 10, rules=Rules(limit=LIMIT))
        started = perf_counter()
        drawn = sample(STRUCTURES[name], pair, 20_000, seed=1, rules=Rules(limit=LIMIT))
        figures[f"{name}_per_s"] = len(drawn) / (perf_counter() - started)
    figures["peak_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({key: round(value, 2) for key, value in figures.items()}))


CASES = {"twin": twin, "benchmark": benchmark, "bulk": bulk, "large": large}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES), help="which, by comma")
    parser.add_argument("--data", type=Path, help="the folder that holds datasets")
    parser.add_argument("--inner-large", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inner_large:
        _large()
        return
    cases = options.cases.split(",")
    if unknown := [case for case in cases if case not in CASES]:
        parser.error(f"no case {unknown[0]!r}; there are: {', '.join(CASES)}")
    for case in cases:
        print(record(f"sampler-{case}", CASES[case](options.data)))


if __name__ == "__main__":
    main()
