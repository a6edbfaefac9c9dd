"""Measures how fast a TSV of names becomes a saved graph, and how fast a saved graph opens.

    pathformer bench graphs [--triples 10000000]

The TSV is made up: entities `Entity 7bd0e of Ωmega-87` drawn by a power law (head N u^2, tail N u^3 for uniform u), so
that some have thousands of triples and most a few. Every figure is taken in a fresh process; peak memory is that of the
process. The baseline is the same job in plain Python (dictionaries, sorted sets), on a tenth of the lines.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _record import record
from pyarrow import csv

RELATIONS = 400
TRIPLES_PER_ENTITY = 8
CHUNK = 1 << 20

PLAIN_PYTHON = """
import sys
entities, relations, triples = {}, {}, set()
for line in open(sys.argv[1], encoding="utf-8"):
    head, relation, tail = line.rstrip("\\n").split("\\t")
    triples.add((entities.setdefault(head, len(entities)), relations.setdefault(relation, len(relations)),
                 entities.setdefault(tail, len(entities))))
outgoing, incoming = {}, {}
for head, relation, tail in sorted(triples):
    outgoing.setdefault((head, relation), []).append(tail)
    incoming.setdefault((tail, relation), []).append(head)
"""
IMPORT = "import sys; from pathformer.cli._main import app; app(['import', sys.argv[1], '--out', sys.argv[2]])"
OPEN = """
import sys, time
start = time.perf_counter()
from pathformer.kg.knowledge import KnowledgeGraph
imported = time.perf_counter()
graph = KnowledgeGraph.open(sys.argv[1])
graph.graph()
opened = time.perf_counter()
name = graph.vocabulary.entity(graph.vocabulary.entity_count - 1)
assert graph.vocabulary.entity_id(name) == graph.vocabulary.entity_count - 1
print(imported - start, opened - imported, time.perf_counter() - opened)
"""


def write_tsv(path: Path, triples: int) -> int:
    """Writes made-up triples as TSV; returns the number of entities they are drawn from."""
    entities = max(triples // TRIPLES_PER_ENTITY, 1)
    random = np.random.default_rng(0)
    names = pa.array([f"Entity {n:x} of Ωmega-{n % 977}" for n in range(entities)])
    relations = pa.array([f"relation/{n}" for n in range(RELATIONS)])
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with path.open("wb") as file:
        for start in range(0, triples, CHUNK):
            count = min(CHUNK, triples - start)
            powers = ((names, entities, 2), (relations, RELATIONS, 2), (names, entities, 3))
            columns = [
                of.take(pa.array((size * random.random(count) ** power).astype(int))) for of, size, power in powers
            ]
            csv.write_csv(pa.table(columns, names=["head", "relation", "tail"]), file, options)
    return entities


def measured(program: str, *arguments: object) -> dict[str, float]:
    """Measures seconds, processor seconds and peak memory (GB) of a program in its own process."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"the program ended with status {status}")
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_gb": round(usage.ru_maxrss * (1024 if sys.platform != "darwin" else 1) / 1e9, 3),
    }


def printed_seconds(program: str, argument: object, *names: str, times: int = 7) -> dict[str, dict[str, float]]:
    """Returns median and worst of the seconds that a program prints, each time in a new process."""
    command = [sys.executable, "-c", program, str(argument)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(times)]
    columns = zip(names, zip(*runs, strict=True), strict=True)
    return {
        name: {
            "median_seconds": round(statistics.median(map(float, column)), 4),
            "worst_seconds": round(max(map(float, column)), 4),
        }
        for name, column in columns
    }


def run(triples: int) -> dict[str, Any]:
    """Measures all figures."""
    with tempfile.TemporaryDirectory() as folder:
        large, small, graph = Path(folder) / "large.tsv", Path(folder) / "small.tsv", Path(folder) / "graph"
        entities = write_tsv(large, triples)
        write_tsv(small, triples // 10)
        figures: dict[str, Any] = {
            "load_before": round(os.getloadavg()[0], 2),
            "triples": triples,
            "entities_drawn_from": entities,
            "tsv_gb": round(large.stat().st_size / 1e9, 3),
            "import": measured(IMPORT, large, graph),
            "tenth": {
                "import": measured(IMPORT, small, Path(folder) / "small"),
                "plain_python": measured(PLAIN_PYTHON, small),
            },
            "saved": printed_seconds(OPEN, graph, "import_package", "open", "look_up_first_name"),
        }
    return figures


def main() -> None:
    """Measures, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=10_000_000)
    arguments = parser.parse_args()
    figures = run(arguments.triples)
    for name, value in figures.items():
        print(f"{name:24} {value}")
    print(record("import", figures))


if __name__ == "__main__":
    main()
