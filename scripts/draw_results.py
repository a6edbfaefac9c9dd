"""Draw the learning curves of recorded runs into docs/images: `python scripts/draw_results.py`. A test compares them.

`RUN.svg`: the longest record of a run below, a panel a structure. `recipe-race*.svg`: on each dataset the paper's
recipe and ours, with and without negation, where there are records of both. A picture that is no longer made is
deleted; new records need nothing but this command.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pathformer.experiments.cards import paper_figures
from pathformer.experiments.curves import Curve, curve_of_record, group_of, panels, race
from pathformer.experiments.records import Record, read_records
from pathformer.experiments.settings import read_run
from pathformer.query.structures import EPFO

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
LOGS = ROOT / "benchmarks" / "runs"
WHOSE = ("the paper's recipe", "ours", "ours without a link predictor", "ours, two side by side")
RACES = {  # picture -> the runs of those recipes
    "recipe-race.svg": ("fb15k-237-epfo", "fast-fb15k-237", "scratch-fb15k-237"),
    "recipe-race-negation.svg": ("fb15k-237-efol", "fast-fb15k-237-efol", "scratch-fb15k-237-efol"),
    "recipe-race-nell995.svg": ("nell995-epfo", "fast-nell995", "scratch-nell995", "fast-nell995-pair"),
    "recipe-race-nell995-negation.svg": ("nell995-efol", "fast-nell995-efol", "scratch-nell995-efol"),
}
# For a run without a record: what `bench levers` kept, which lever, seconds of its start, others on the card.
STAND_INS = {
    "fast-fb15k-237": (LOGS / "fb15k-237-base-2" / "levers.json", "roots-wide", 60.0, 0),
    "scratch-fb15k-237": (LOGS / "fb15k-237-base-1" / "levers.json", "recipe", 0.0, 0),
    "scratch-nell995": (LOGS / "nell995-scratch-6min" / "levers.json", "recipe", 0.0, 10),
}
DRAWN = {run for runs in RACES.values() for run in runs}


def figures() -> dict[str, str]:
    """The text of every picture by the name of its file."""
    longest = _longest()
    pictures = {f"{run}.svg": panels(record, paper_figures(read_run(run))) for run, record in longest.items()}
    races = {name: _racers(name, longest) for name in RACES}
    return pictures | {name: _race(name, curves) for name, curves in races.items() if len(curves) > 1}


def _longest() -> dict[str, Record]:
    """By run the longest record of its own settings that keeps a curve over the structures it is judged by."""
    found: dict[str, Record] = {}
    for record in read_records():
        whole = record.curve and all(set(group_of(record)[1]) <= look.keys() for look in record.curve)
        longer = record.run not in found or record.seconds > found[record.run].seconds
        if whole and longer and not record.variant and record.run in DRAWN:
            found[record.run] = record
    return found


def _racers(name: str, longest: dict[str, Record]) -> list[Curve]:
    """The paper's recipe first; where a recipe of ours has no record yet, the lever that it came from stands in."""
    curves = []
    for run, whose in zip(RACES[name], WHOSE[: len(RACES[name])], strict=True):
        if run in longest:
            curves.append(curve_of_record(longest[run], f"{whose}, {_looks(longest[run])}"))
        elif run in STAND_INS:
            curves.append(_stand_in(run, whose))
    return curves


def _race(name: str, curves: list[Curve]) -> str:
    run = read_run(RACES[name][0])
    return race(curves, paper_figures(run).get("avg negation" if run.trained == "efol" else "avg"))


def _stand_in(run: str, whose: str) -> Curve:
    file, lever, before, others = STAND_INS[run]
    kept = json.loads(file.read_text(encoding="utf-8"))["figures"]
    points = [(before + seconds, mrr) for seconds, mrr in map(_look, kept["levers"][lever]["curve"])]
    queries, crowd = read_run(run).valid_queries, f"{'up to ' if others else ''}{kept['jobs'] + others}"
    return Curve(f"{whose}, {queries:,} validation queries a structure, {crowd} runs on the card", points)


def _look(look: Sequence[float] | Mapping[str, float]) -> tuple[float, float]:
    """Seconds and the mean, which older ones kept instead of the structures."""
    if isinstance(look, Mapping):
        return look["seconds"], sum(look[name] for name in EPFO) / len(EPFO)
    return look[0], look[1]


def _looks(record: Record) -> str:
    count = record.settings.get("valid_queries")
    queries = "all validation queries" if count is None else f"{count:,} validation queries a structure"
    other = ", other batch and rate" if {"training.batch", "training.update.rate"} <= record.changes.keys() else ""
    return f"{queries}{other}" + (f", up to {record.beside} runs on the card" if record.beside > 1 else "")


def main() -> None:
    """Write them all."""
    made = figures()
    IMAGES.mkdir(exist_ok=True)
    ours = {f"{run}.svg" for run in DRAWN} | RACES.keys()
    for path in IMAGES.glob("*.svg"):
        if path.name in ours and path.name not in made:
            path.unlink()
    for name, text in made.items():
        (IMAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
