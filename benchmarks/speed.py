"""How fast every method trains: queries a second, and seconds for 100 steps beside the paper's Table 15.

    pathformer bench speed [--model NAME] [--out DIR] [--commit HASH] [--cpu]

A step is one batch of 512 queries of each trained structure, five for queries without negation and ten with it, an
update each, as in the reference code; the same queries in one update are timed beside it. Queries are made up, of
FB15k-237's size; everything else is what a run of the method does, at the paper's size (on the processor models are
small). `--model` may be repeated and takes the names of the tables. The file it leaves among the records is what
`pathformer tables 15` shows.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from _made_up import made_up, timed

from pathformer.experiments.records import RECORDS
from pathformer.experiments.settings import Run, read_run
from pathformer.experiments.tables.catalogue import CASES
from pathformer.experiments.tables.paper import RUNNING_TIME
from pathformer.models._base import Model, build
from pathformer.query.structures import EFOL_TRAINED, EPFO_TRAINED
from pathformer.training.data import TrainingSet
from pathformer.training.machine import commit as commit_here
from pathformer.training.machine import device_facts
from pathformer.training.rounds import Rounds

COLUMNS = {"epfo": "EPFO Queries", "efol": "FOL Queries"}  # of the paper's table


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large the graph, the batches and the models are."""

    entities: int = 14_505  # FB15k-237's
    relations: int = 474
    queries: int = 20_000  # of a structure
    batch: int = 512  # of a structure
    at_most: Mapping[str, int] = dataclasses.field(default_factory=dict)  # limits of a model's settings; none: paper's
    seconds: float = 1.0  # of timed steps, about

    @property
    def words(self) -> str:
        """Says what is measured."""
        models = "the paper's sizes" if not self.at_most else f"models cut down to {dict(self.at_most)}"
        return f"{models}, made-up queries over {self.entities:,} entities, {self.batch} of each structure a step"


LARGE = Size()
SMALL = Size(
    entities=500,
    relations=20,
    queries=500,
    batch=32,
    at_most={"dim": 32, "hidden": 32, "bases": 4, "token_hidden": 16, "heads": 4, "layers": 2},
    seconds=0.2,
)


def measure_speed(
    cases: Iterable[str] = tuple(CASES),
    *,
    device: torch.device,
    size: Size = LARGE,
    commit: str | None = None,
    report: Callable[[str, str, Mapping[str, float]], None] | None = None,
) -> dict[str, Any]:
    """Measures the speed of methods, in the form that Table 15 reads.

    report: called with method, "epfo" or "efol", and the figures of each as soon as they are measured.
    """
    trained = {"epfo": EPFO_TRAINED, "efol": EFOL_TRAINED}
    data = {
        kind: made_up(names, size.entities, size.relations, size.queries, str(device))
        for kind, names in trained.items()
    }
    methods: dict[str, dict[str, dict[str, float]]] = {}
    for name in cases:
        run = read_run(CASES[name])
        for kind, queries in data.items():
            model = _build_model(run, size, device)
            if kind == "efol" and not model.negation:
                continue
            figures = _time_steps(model, run, queries, size)
            methods.setdefault(name, {})[kind] = figures
            if report is not None:
                report(name, kind, figures)
            del model
            gc.collect()
    return {
        "about": size.words,
        "of_the_papers_size": not size.at_most,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit or commit_here(),
        "machine": device_facts(device),
        "methods": methods,
    }


def _build_model(run: Run, size: Size, device: torch.device) -> Model:
    settings = run.model_settings
    small = {key: min(value, size.at_most[key]) if key in size.at_most else value for key, value in settings.items()}
    torch.manual_seed(0)
    return build(run.method, small, entities=size.entities, relations=size.relations).to(device)


def _time_steps(model: Model, run: Run, data: TrainingSet, size: Size) -> dict[str, float]:
    """Times steps with an update for each structure, and steps with one update for all."""
    queries, figures = size.batch * len(data.structures), {}
    for word, update_per_structure in (("", True), ("_at_once", False)):
        seconds = _seconds_a_step(model, run, data, size, update_per_structure=update_per_structure)
        figures[f"seconds_per_100_steps{word}"] = round(100 * seconds, 4)
        figures[f"queries_per_second{word}"] = round(queries / seconds, 1)
    return figures


def _seconds_a_step(model: Model, run: Run, data: TrainingSet, size: Size, *, update_per_structure: bool) -> float:
    """Times steps after those that compile and capture."""
    names = {structure.name: size.batch for structure in data.structures}
    step = Rounds(model, data, names, run.training.update, update_per_structure)
    for _ in range(5):
        step.run()
    step.losses()  # waits for the device
    begun = time.perf_counter()
    step.run()
    step.losses()
    once = max(time.perf_counter() - begun, 1e-6)
    count = max(3, min(100, round(size.seconds / once)))

    def work() -> None:
        for _ in range(count):
            step.run()

    return timed(step.device, work) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="measure small models on the processor")
    parser.add_argument("--model", action="append", choices=list(CASES), help="a method as the tables call it")
    parser.add_argument("--out", type=Path, default=RECORDS, help="where the figures go")
    parser.add_argument("--commit", help="what the file says, where this is no checkout")
    args = parser.parse_args(sys.argv[1:])
    device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")
    size = LARGE if device.type == "cuda" else SMALL
    print(f"{size.words}\n{'':22s}       100 steps     paper    queries/s   in one update: 100 steps    queries/s")

    def report(name: str, kind: str, found: Mapping[str, float]) -> None:
        paper = "" if size is SMALL else RUNNING_TIME.get(name, {}).get(COLUMNS[kind], "")
        print(
            f"{name:22s} {kind}  {found['seconds_per_100_steps']:8.2f} s  {paper:>8}"
            f"  {found['queries_per_second']:11,.0f}  {found['seconds_per_100_steps_at_once']:23.2f} s"
            f"  {found['queries_per_second_at_once']:11,.0f}",
            flush=True,
        )

    found = measure_speed(args.model or CASES, device=device, size=size, commit=args.commit, report=report)
    words = re.sub(r"[^a-z0-9]+", "-", found["machine"]["device"].lower()).strip("-")
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / f"speed-{words}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
