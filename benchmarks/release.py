"""What a release form saves and what it costs: bytes, opening, searching, MRR of held-out questions, beside the engine.

    pathformer bench release -- ENGINE_OR_RUN ... [--queries 200]    trained ones, with what their MRR becomes
    pathformer bench release -- --untrained fast-nell995,model.dim=400    the model of a run file: sizes and times alone

Times are processor time of one thread, the least of several turns, in which the forms follow each other; other work on
the machine then falls on all of them alike.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from _record import RESULTS, record

from pathformer.engine.compare import cost_of, held_out_queries
from pathformer.engine.engine import Engine, load
from pathformer.engine.forms import FORMS, FULL
from pathformer.engine.storage import is_engine
from pathformer.engine.typical import typical_points
from pathformer.experiments.deploy import engine_of_run
from pathformer.experiments.settings import read_run
from pathformer.index import build as build_index
from pathformer.kg.datasets import load as load_graph
from pathformer.models import build

TURNS = 5
POINTS = 64  # searched one by one


def untrained(file: str, *settings: str) -> Engine:
    """An engine of a run's size that knows nothing."""
    run = read_run(file, settings)
    kg = load_graph(run.dataset)
    names = kg.vocabulary
    torch.manual_seed(0)
    model = build(run.method, run.model_settings, entities=names.entity_count, relations=names.relation_count)
    return Engine(kg, model, build_index("exact", model.entities.weight.detach(), model.space))


def measured(engine: Engine, queries: int) -> dict[str, Any]:
    """Figures of one engine, form by form."""
    held = held_out_queries(engine, queries, engine.about.get("evaluated")) if queries else {}
    with tempfile.TemporaryDirectory() as scratch:
        folders = {form: Path(scratch) / form for form in (FULL, *FORMS)}
        for form, folder in folders.items():
            engine.save(folder, form=None if form == FULL else form)
        found: dict[str, Any] = {form: {"bytes": _bytes(folder)} for form, folder in folders.items()}
        _fastest(found, "open_seconds", {form: _opening(folder) for form, folder in folders.items()})
        opened = {form: load(folder) for form, folder in folders.items()}
        points = typical_points(engine.kg, opened[FULL].encoder, count=POINTS // 4)[:POINTS]
        _fastest(found, "search_seconds", {form: _searching(one, points) for form, one in opened.items()})
        for form in FORMS if held else ():
            found[form]["cost"] = cost_of(opened[FULL], opened[form], held).plain()
    return found


def _fastest(found: dict[str, Any], figure: str, work: dict[str, Callable[[], None]]) -> None:
    """The least processor time of each, taking turns."""
    seconds: dict[str, list[float]] = {form: [] for form in work}
    for _ in range(TURNS):
        for form, run in work.items():
            start = time.process_time()
            run()
            seconds[form].append(time.process_time() - start)
    for form, each in seconds.items():
        found[form][figure] = round(min(each), 5)


def _opening(folder: Path) -> Callable[[], None]:
    def run() -> None:
        load(folder)

    return run


def _searching(engine: Engine, points: torch.Tensor) -> Callable[[], None]:
    def run() -> None:
        for point in points:
            engine.index.search(point[None], 10)

    return run


def _bytes(folder: Path) -> dict[str, int]:
    parts = {"weights": "model.safetensors", "index": "index/*", "graph": "graph/**/*", "all": "**/*"}
    return {
        part: sum(path.stat().st_size for path in folder.glob(pattern) if path.is_file())
        for part, pattern in parts.items()
    }


def show(name: str, figures: dict[str, Any]) -> None:
    """A line a form, beside the engine as trained."""
    full = figures[FULL]
    print(f"{name}\n{'form':6}{'MB':>9}{'open s':>9}{'search':>8}{'MRR':>8}{'same %':>8}")
    for form, found in figures.items():
        cost, ratio = found.get("cost"), found["search_seconds"] / full["search_seconds"]
        means = [sum(part.values()) / len(part) for part in (cost["full"], cost["released"])] if cost else []
        mrr = f"{means[1] - means[0]:+.2f}" if means else ""
        same = f"{cost['shared']:.1f}" if cost else ""
        print(f"{form:6}{found['bytes']['all'] / 1e6:9.1f}{found['open_seconds']:9.3f}{ratio:8.2f}{mrr:>8}{same:>8}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", type=Path, help="engines, or runs of `pathformer train`")
    parser.add_argument("--untrained", nargs="*", default=[], metavar="RUN,KEY=VALUE", help="models of run files")
    parser.add_argument("--queries", type=int, default=200, help="held-out questions of a structure")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    figures = {}
    for source in given.sources:
        engine = load(source) if is_engine(source) else engine_of_run(source, asked=0)
        figures[source.name] = measured(engine, given.queries)
        show(source.name, figures[source.name])
    for name in given.untrained:
        figures[f"{name}, untrained"] = measured(untrained(*name.split(",")), 0)
        show(name, figures[f"{name}, untrained"])
    print(record("release", figures, given.out))


if __name__ == "__main__":
    main()
