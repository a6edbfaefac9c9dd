"""Every method on one small graph, in equal seconds of one processor: does it learn each structure that it trains?

    pathformer bench methods [--seconds 20] [--only betae --only mlp-mixer] [--kind epfo] [--dataset umls]
                             [--out DIR] [--set KEY=VALUE]

A wrong equation shows where a method stays behind counting (`links/frequency.py`, which never looks at an anchor)
on a structure that it was trained on, or far behind the others. Queries are drawn by the protocol. All models are small
(64 numbers an entity, 32 + 32 where a space has two parameters, margins in proportion), each with its own loss and the
rates that were seen to work in few updates; an update is 16 queries of each structure. How many updates fit is measured
before a run starts, in time of the processor, so that neighbours on the machine do not shorten it. With `--kind efol`
methods that know negation are trained on all ten structures. Rows are kept as soon as they are there; others of the
same file stay.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from _record import RESULTS, record
from rich.console import Console

from pathformer.evaluation.evaluate import ScoreRanker, evaluate
from pathformer.evaluation.report import Report
from pathformer.experiments.run import Material, gather, new_model, train_run, training_queries
from pathformer.experiments.settings import Run, read_run
from pathformer.links.frequency import Frequency
from pathformer.models._base import find
from pathformer.querysets.queries import Queries
from pathformer.training.display import Display
from pathformer.training.rounds import Rounds

COMMON = (
    "queries=drawn",
    "training.batch=16",
    "training.update_per_structure=false",
    "training.schedule=cosine",
    "training.warmup=0.05",
    "training.validations=1",
    "training.save_minutes=60",
    "training.update.negatives=32",
    "valid_queries=50",
)
SOFTMAX = ("training.update.weighted=false", "training.update.average_over=batch")
# By the word that docs and results call a row: the method, then its settings.
METHODS: dict[str, tuple[str, ...]] = {
    "pathformer": ("pathformer", "model.dim=64", "model.layers=1", "model.margin=6", "training.update.rate=5e-3"),
    "pathformer + box": (
        *("pathformer", "model.space=box", "model.dim=32", "model.layers=1", "model.margin=6"),
        *("training.update.rate=4e-3", "training.update.table_rate=2"),
    ),
    "pathformer + beta": (
        *("pathformer", "model.space=beta", "model.dim=32", "model.layers=1", "model.margin=6"),
        *("training.update.rate=2e-3", "training.update.table_rate=8"),
    ),
    "gqe": ("gqe", "model.dim=64", "model.margin=6", "training.update.rate=5e-3"),
    "q2b": ("q2b", "model.dim=64", "model.margin=6", "training.update.rate=5e-3"),
    "betae": (
        *("betae", "model.dim=32", "model.hidden=128", "model.margin=6"),
        *("training.update.rate=1e-3", "training.update.table_rate=10"),
    ),
    "cone": (
        *("cone", "model.dim=64", "model.hidden=128", "model.margin=4"),
        *("training.update.rate=1e-3", "training.update.table_rate=5"),
    ),
    "gammae": (
        *("gammae", "model.dim=32", "model.hidden=128", "model.margin=6"),
        *("training.update.rate=1e-3", "training.update.table_rate=10"),
    ),
    "mlp": ("mlp", "model.dim=64", "model.margin=6", "training.update.rate=5e-3"),
    "mlp-mixer": ("mlp-mixer", "model.dim=64", "model.token_hidden=32", "model.margin=6", "training.update.rate=5e-3"),
    "fuzzqe": (
        *("fuzzqe", "model.dim=64", "model.bases=16", "training.update.rate=1e-2", "training.update.table_rate=2"),
        *("training.update.filtered=false", "training.update.epsilon=1e-6", "training.update.weight_decay=0.05"),
    ),
    "q2p": (
        *("q2p", "model.dim=32", "training.update.rate=5e-3", *SOFTMAX),
        *("training.update.softmax.targets=1", "training.update.softmax.smoothing=0.5"),
    ),
    "biqe": (
        *("biqe", "model.dim=64", "model.layers=2", "training.update.rate=2e-3", *SOFTMAX),
        "training.update.softmax.targets=5",
    ),
}
SHOWN = ("1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up", "avg", "avg negation")


def settings(row: str, dataset: str, kind: str, more: list[str]) -> list[str]:
    """Returns the settings of a row as `key=value`."""
    method, *own = METHODS[row]
    return [f"dataset={dataset}", f"method={method}", f"trained={kind}", *COMMON, *own, *more]


def read(folder: Path, words: list[str]) -> Run:
    """Reads a run from settings; a file must name the dataset."""
    file = folder / "run.toml"
    file.write_text(f'dataset = "{words[0].partition("=")[2]}"\n', encoding="utf-8")
    return read_run(file, words[1:])


def updates_in(seconds: float, run: Run, material: Material, tried: int = 12) -> int:
    """Returns how many updates fit into `seconds` of processor time; the first updates are not timed."""
    data = training_queries(run, material).on_device(torch.device("cpu"))
    sizes = run.training.composition(run.trained_structures)
    step = Rounds(
        new_model(run, material.kg, torch.device("cpu")),
        data,
        sizes,
        run.training.update,
        run.training.update_per_structure,
    )
    for _ in range(3):
        step.run()
    begun = time.process_time()
    for _ in range(tried):
        step.run()
    return max(20, round(seconds * tried / (time.process_time() - begun)))


def percent(report: Report) -> dict[str, float]:
    """Returns MRR by structure and on average, in percent."""
    all_of_them = {**report.scores, **report.averages}
    return {name: round(100 * all_of_them[name].mrr, 1) for name in all_of_them}


def measured(words: list[str], seconds: float, material: Material) -> dict[str, Any]:
    """Trains one row and rank the test queries."""
    with tempfile.TemporaryDirectory() as folder:
        timed = read(Path(folder), words)
        steps = updates_in(seconds, timed, material)
        run = read(Path(folder), [*words, f"training.steps={steps}"])
        begun = time.process_time()
        quiet = Display(Console(file=io.StringIO()))
        outcome = train_run(run, Path(folder) / "run", material=material, device="cpu", display=quiet)
        spent = time.process_time() - begun
    if not outcome.result.finished:
        raise SystemExit("interrupted; rows that are there stay, and --only starts with this one again")
    return {
        "updates": steps,
        "processor_seconds": {"meant for training": seconds, "with ranking": round(spent, 1)},
        "mrr": percent(outcome.reports["last"]),
    }


def cut(material: Material, count: int) -> Material:
    """Returns the material with at most `count` test queries of each structure."""
    sets = material.sets
    test = {name: queries.spread(count) for name, queries in sets["test"].items()}
    return Material(material.kg, sets.with_split("test", test))


def counting(material: Material) -> dict[str, Any]:
    """Returns the figures of counting alone on the same queries."""
    test: dict[str, Queries] = dict(material.sets["test"])
    return {"mrr": percent(evaluate(ScoreRanker(Frequency(material.kg.graph("train"))), test))}


def shown(row: str, found: dict[str, Any]) -> str:
    """Formats a line of the table."""
    cells = [f"{found['mrr'][name]:6.1f}" if name in found["mrr"] else "     -" for name in SHOWN]
    return f"{row:18s} {found.get('updates', ''):>8} {' '.join(cells)}"


def keep(path: Path, kind: str, row: str, found: dict[str, Any], about: dict[str, Any]) -> None:
    """Adds a row to the file, in the order of the methods."""
    before = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.is_file() else {}
    rows = {**before.get(kind, {}), row: found}
    ordered = {name: rows[name] for name in ("counting", *METHODS) if name in rows}
    record(path.stem, {**before, **about, kind: ordered}, path.parent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the processor, for each row's training")
    parser.add_argument("--only", action="append", choices=list(METHODS), help="a row; may be repeated")
    parser.add_argument("--kind", choices=("epfo", "efol"), default="epfo")
    parser.add_argument("--dataset", default="umls")
    parser.add_argument("--test", type=int, default=300, help="test queries of a structure")
    parser.add_argument("--data", type=Path, default=os.environ.get("PATHFORMER_DATA"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--set", action="append", default=[], help="a setting for all rows; may be repeated")
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        first = read(Path(folder), settings("mlp", args.dataset, args.kind, []))
        material = cut(gather(first, args.data), args.test)
    path = args.out / f"methods-{args.dataset}.json"
    about = {"dataset": args.dataset, "test_queries": args.test}
    print(f"{'':18s} {'updates':>8} {' '.join(f'{name[:6]:>6s}' for name in SHOWN)}")
    counted = counting(material)
    keep(path, args.kind, "counting", counted, about)
    print(shown("counting", counted), flush=True)
    for row in args.only or METHODS:
        if args.kind == "efol" and not _negates(row):
            continue
        words = settings(row, args.dataset, args.kind, args.set)
        found = {**measured(words, args.seconds, material), "settings": words[3:]}
        keep(path, args.kind, row, found, about)
        print(shown(row, found), flush=True)


def _negates(row: str) -> bool:
    """Whether a row's method answers negation in its own space."""
    return find(METHODS[row][0]).negation and "+" not in row


if __name__ == "__main__":
    main()
