"""How much of an entity table ends where its space lets nothing move, by the tables' rate.

    pathformer bench floor [--dataset codex-s] [--only "betae 3"] [--updates 7680] [--out DIR]

Beta and Gamma distributions are read through a clamp, at which a number gets no gradient any more. A high rate for the
tables, which helps a short run, may carry them there in a longer one. Settings are those of `pathformer bench methods`,
with the rate of the tables as a multiple of the network's, one seed and a cosine. Beside the share of an entity's
numbers at the clamp stand the MRR of training queries (their own answers to be ranked) and of test queries, by quarter.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _record import RESULTS, record
from methods import cut, percent, read, settings

from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.experiments.run import Material, gather, new_model, training_set
from pathformer.models import Model
from pathformer.symbolic.queries import Queries, Ragged
from pathformer.training.schedule import moment
from pathformer.training.turns import Turns

CASES = {  # row of `methods`, multiple of the rate, updates
    "betae 3": ("betae", 3.0, 7680),
    "betae 10": ("betae", 10.0, 7680),
    "betae 20": ("betae", 20.0, 7680),
    "pathformer + beta 2": ("pathformer + beta", 2.0, 4000),
    "pathformer + beta 8": ("pathformer + beta", 8.0, 4000),
}


def as_asked(queries: Queries, count: int) -> Queries:
    """Training queries with their answers to be ranked."""
    some = queries.spread(count)
    nothing = Ragged(np.zeros(len(some) + 1, np.int64), np.empty(0, np.int32))
    return Queries(some.structure, some.ids, nothing, some.easy)


def at_floor(model: Model) -> float:
    """The share of the entities' numbers that reg cuts off, in %."""
    rows = model.entities.weight.detach()
    least = model.space.regularize(torch.full_like(rows[:1], -9.0))  # what it makes of anything below
    return round(100 * (model.space.regularize(rows) <= least).float().mean().item(), 1)


def measured(row: str, times: float, updates: int, dataset: str, material: Material) -> list[dict[str, Any]]:
    """What is seen at each quarter of a run."""
    with tempfile.TemporaryDirectory() as folder:
        words = settings(row, dataset, "epfo", [f"training.update.table_rate={times}"])
        run = read(Path(folder), words)
    device, trained = torch.device("cpu"), run.trained_structures
    torch.manual_seed(0)
    model = new_model(run, material.kg, device)
    sizes = run.training.composition(trained)
    step = Turns(model, training_set(run, material, device), sizes, run.training.update, run.training.turns)
    asked = {
        "trained": {name: as_asked(material.sets["train"][name], 300) for name in trained},
        "test": dict(material.sets["test"]),
    }
    seen = []
    for update in range(1, updates + 1):
        step.adam.set_rate(run.training.update.rate * moment("cosine", update / updates, 0.05).factor)
        step.run()
        if update % (updates // 4) == 0:
            mrr = {name: percent(evaluate(ModelRanker(model), queries)) for name, queries in asked.items()}
            seen.append({"updates": update, "at the floor": at_floor(model), **mrr})
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(CASES), help="a case; may be repeated")
    parser.add_argument("--dataset", default="codex-s")
    parser.add_argument("--updates", type=int, help="instead of the case's own")
    parser.add_argument("--data", type=Path, default=os.environ.get("PATHFORMER_DATA"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        material = cut(gather(read(Path(folder), settings("mlp", args.dataset, "epfo", [])), args.data), 300)
    path = args.out / f"floor-{args.dataset}.json"
    for case in args.only or CASES:
        row, times, updates = CASES[case]
        seen = measured(row, times, args.updates or updates, args.dataset, material)
        before = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.is_file() else {}
        rows = {**before, case: seen}
        record(path.stem, {name: rows[name] for name in CASES if name in rows}, path.parent)
        last = seen[-1]
        print(case, last["updates"], f"{last['at the floor']} %", last["trained"], last["test"], flush=True)


if __name__ == "__main__":
    main()
