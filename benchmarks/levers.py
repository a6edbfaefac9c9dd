"""What each lever gives at equal minutes.

    pathformer bench levers -- RUN MINUTES OUT [LEVER ...]

    pathformer bench levers -- fast-fb15k-237 3 runs/levers recipe margin one-answer
    pathformer bench levers -- fast-fb15k-237 3 runs/levers recipe start frozen --jobs 3
    pathformer bench levers -- --speed
    pathformer bench levers -- --list

RUN is a run file; MINUTES the box of each lever. A lever is a name of `_levers.py`, several at once `name+name`, or
`name:key=value,key=value` with settings of its own; each stands alone on top of RUN. What levers `start` from is
trained first, once for all of them, within minutes of its own (`start.key=value` changes its settings, `start_minutes`
its time, `start_members` how many there are of it), and kept in OUT. Levers share the graph and the queries; each is a
process, JOBS of them at a time, so that all have the same share of a device. They are judged on validation queries:
test queries are ranked once, by the run that is chosen. Unions, paths from variables and negated branches are ranked in
every way that a model can. Writes `levers.json` and `levers.md` to OUT; the same command goes on where it was cut.
Weights of finished levers are removed (a wide one has gigabytes), unless --keep is given: then they stay in OUT/LEVER.
`--speed` times captured updates on made-up queries of both benchmarks' sizes instead, on a card.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, get_args

import torch
from _levers import LEVERS, Lever, lever_of
from _levers_speed import device_name, speed, start_memory
from _levers_start import Start, started, starts_of, with_start
from _record import record

from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.experiments.fork import forked
from pathformer.experiments.keep import curve_of
from pathformer.experiments.mps import Service
from pathformer.experiments.run import Material, gather, train_run
from pathformer.experiments.settings import read_run
from pathformer.experiments.standing import standing
from pathformer.models import Combine, Model
from pathformer.models.pathformer import Pathformer, Variable
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES
from pathformer.training import checkpoint
from pathformer.training.device import choose_device

TELL = 20.0  # seconds between two reports
EXCLUDED = (0.0, 1.0, 3.0, 10.0, 30.0)  # strengths of `evaluation.exclude`


def main() -> None:
    """Train every lever, one after the other or side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?")
    parser.add_argument("minutes", nargs="?", type=float)
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("levers", nargs="*")
    parser.add_argument("--jobs", type=int, default=1)
    for name in ("speed", "list", "keep"):
        parser.add_argument(f"--{name}", action="store_true")
    args = parser.parse_args()
    if args.speed:
        speed()
    elif args.list:
        for name, lever in LEVERS.items():
            print(f"{name:14s} {' '.join(lever.settings)}")
    elif args.out is None:
        parser.error("a RUN, MINUTES and OUT are needed")
    else:
        work(args.run, args.minutes, args.out, args.levers or list(LEVERS), args.jobs, keep=args.keep)


def work(name: str, minutes: float, folder: Path, titles: list[str], jobs: int, keep: bool = False) -> None:
    """Read graph and queries once, train what levers start from, then the levers, each in a process of its own.

    This process never uses a device, or its forks could not.
    """
    run = read_run(name)
    left = [title for title in titles if not _figures_file(folder, title).is_file()]
    levers = {title: with_start(lever_of(title, run.dataset), run) for title in left}
    begun = time.monotonic()
    material = gather(run)
    print(f"queries ready in {time.monotonic() - begun:.0f} s", flush=True)
    wanted = sorted({key for lever in levers.values() for key in starts_of(lever)})
    starts = {key: folder / f"start-{number}-{Path(key[0]).stem}" for number, key in enumerate(wanted)}
    first = {place.name: partial(_first, key, place, material) for key, place in starts.items()}
    then = {
        _folder(title): partial(_one, name, minutes, folder, title, lever, started(lever, starts), material, keep)
        for title, lever in levers.items()
    }
    with Service(print) if jobs > 1 else nullcontext() as service:
        if service is not None:
            service.settle()
        _side_by_side(first, folder, jobs)
        _side_by_side(then, folder, jobs)
    _write(name, minutes, folder, titles, jobs)


def _first(start: Start, place: Path, material: Material) -> None:
    before = read_run(start[0], list(start[1:]))
    sets = material.sets.only(train=before.trained_structures, other=before.evaluated_structures)
    train_run(before, place, material=Material(material.kg, sets), test=False)


def _one(
    name: str,
    minutes: float,
    folder: Path,
    title: str,
    lever: Lever,
    settings: list[str],
    material: Material,
    keep: bool,
) -> None:
    """Train a lever and write what came of it; its weights are removed then, or kept beside it."""
    place = folder / _folder(title)
    run = read_run(name, [*settings, f"training.minutes={minutes}"])
    start_memory()
    outcome = train_run(run, place, material=material, test=False)
    row = {"expected": lever.expected, "settings": list(lever.settings)} | _figures(outcome, place)
    row |= {"device": device_name(), "other_ways": _ways(outcome, material, run.valid_queries)}
    _keep(_figures_file(folder, title), row)
    for weights in () if keep else place.glob("*.safetensors"):
        weights.unlink()


def _keep(path: Path, row: Mapping[str, Any]) -> None:
    """Write a lever's figures at once or not at all: where the file is, the lever is finished."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(row), encoding="utf-8")
    part.replace(path)


def _side_by_side(tasks: Mapping[str, Callable[[], None]], folder: Path, jobs: int) -> None:
    """So many at a time, each in a fork of this process with a log of its own; tells where they stand."""
    waiting, running, told = dict(tasks), dict[str, ForkProcess](), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    while waiting or running:
        while waiting and len(running) < jobs:
            name = next(iter(waiting))
            running[name] = forked(_logged, waiting.pop(name), folder / f"{name}.log")
            print(f"{name}: started, {len(waiting)} wait", flush=True)
        wait([process.sentinel for process in running.values()], timeout=1.0)
        for name in [name for name, process in running.items() if not process.is_alive()]:
            ended = running.pop(name)
            ended.join()
            how = "done" if ended.exitcode == 0 else f"FAILED ({ended.exitcode}): {_last(folder / f'{name}.log')}"
            print(f"{name}: {how}; {standing(folder / name)}", flush=True)
        if time.monotonic() - told > TELL:
            told = time.monotonic()
            for name in running:
                print(f"  {name}: {standing(folder / name)}", flush=True)


def _logged(task: Callable[[], None], log: Path) -> None:
    with log.open("a", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        os.dup2(file.fileno(), 1)  # what libraries say without Python
        os.dup2(file.fileno(), 2)
        torch.set_num_threads(1)
        try:
            task()
        except Exception:
            traceback.print_exc()
            sys.exit(1)


def _last(log: Path) -> str:
    return (log.read_text(encoding="utf-8").splitlines() or ["nothing said"])[-1]


def _write(name: str, minutes: float, folder: Path, titles: list[str], jobs: int) -> None:
    """All levers that were finished, as JSON and as a table."""
    files = {title: _figures_file(folder, title) for title in titles}
    rows = {title: json.loads(file.read_text(encoding="utf-8")) for title, file in files.items() if file.is_file()}
    if not rows:
        sys.exit("no lever was finished")
    device = next(iter(rows.values()))["device"]
    record("levers", {"run": name, "minutes": minutes, "jobs": jobs, "device": device, "levers": rows}, folder)
    table = _markdown(rows)
    (folder / "levers.md").write_text(table, encoding="utf-8")
    print(table)


def _folder(title: str) -> str:
    return title.partition(":")[0]


def _figures_file(folder: Path, title: str) -> Path:
    return folder / _folder(title) / "lever.json"


def _figures(outcome: Any, place: Path) -> dict[str, Any]:
    """Steps, speed, memory, the last validation by structure, in percent, and every one before it."""
    lines = [json.loads(line) for line in (place / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    rates = sorted(line["queries_per_second"] for line in lines if "queries_per_second" in line)
    last = [line for line in lines if "valid/mrr" in line][-1]
    mrr = {key.removeprefix("valid/"): 100 * value for key, value in last.items() if key.startswith("valid/")}
    averages = {
        title: sum(mrr[name] for name in group) / len(group)
        for title, group in (("EPFO", EPFO), ("negation", NEGATION_STRUCTURES))
        if set(group) <= mrr.keys()
    }
    held = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    speed = {"steps": outcome.result.step, "queries_per_second": rates[len(rates) // 2], "peak_gib": held}
    return {**speed, **averages, **mrr, "curve": curve_of(lines)}


def _ways(outcome: Any, material: Material, count: int | None) -> dict[str, dict[str, float]]:
    """The best weights ranked in other ways than the run's own: validation MRR in percent.

    Unions in every way that disjuncts can be combined, paths from variables as they are read in either way, negated
    branches as points of their own (`evaluation.exclude`).
    """
    model, _ = checkpoint.load_model(outcome.result.best or outcome.result.last, choose_device())
    found = {}
    for way in get_args(Combine):
        model.combine = way
        found[way] = _mrr(model, material, count, ("2u", "up"))
    if isinstance(model, Pathformer) and model.space.parts == 1:
        for start in get_args(Variable):
            model.variable = start
            found[f"variables: {start}"] = _mrr(model, material, count, ("ip", "inp"))
    for strength in EXCLUDED if "2in" in material.sets["valid"] else ():
        model.exclude = strength
        found[f"exclude: {strength:g}"] = _mrr(model, material, count, ("2in", "3in", "pin", "pni"))
    return found


def _mrr(model: Model, material: Material, count: int | None, names: tuple[str, ...]) -> dict[str, float]:
    asked = {name: queries.spread(count) for name, queries in material.sets["valid"].items() if name in names}
    scores = evaluate(ModelRanker(model), asked).scores
    return {name: 100 * score.mrr for name, score in scores.items()}


def _markdown(rows: dict[str, dict[str, Any]]) -> str:
    """One line a lever; figures are validation MRR in percent."""
    first = next(iter(rows.values()))
    shown = [name for name in ("EPFO", "negation", *EPFO, *NEGATION_STRUCTURES) if name in first]
    lines = [f"| lever | steps | queries/s | {' | '.join(shown)} | expected |"]
    lines.append("|---" + "|--:" * (2 + len(shown)) + "|---|")
    ways = []
    for title, row in rows.items():
        told = "; ".join(
            f"{way} {', '.join(f'{name} {value:.1f}' for name, value in values.items())}"
            for way, values in row["other_ways"].items()
        )
        ways.append(f"- {_folder(title)}: {told}")
        cells = [f"{row[name]:.1f}" for name in shown]
        speed = f"{row['steps']:,} | {row['queries_per_second']:,.0f}"
        lines.append(f"| {_folder(title)} | {speed} | {' | '.join(cells)} | {row['expected']} |")
    return "\n".join([*lines, "", "The best weights ranked in other ways:", "", *ways]) + "\n"


if __name__ == "__main__":
    main()
