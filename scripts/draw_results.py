"""Draw the learning curves of recorded runs into docs/images: `python scripts/draw_results.py`. A test compares them.

A picture for each dataset, with and without negation: mean MRR of validation over the time of training, of the paper's
recipe and of ours, seconds by the logarithm, so that a minute and a day both have room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from draw_figures import write_images

from pathformer.experiments.records import Record, read_records
from pathformer.experiments.settings import read_run
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

WHOSE = ("the paper's recipe", "ours", "ours, two side by side")
RACES = {  # picture -> the runs of those recipes
    "recipe-race.svg": ("fb15k-237-epfo", "fast-fb15k-237"),
    "recipe-race-negation.svg": ("fb15k-237-efol", "fast-fb15k-237-efol"),
    "recipe-race-nell995.svg": ("nell995-epfo", "fast-nell995", "fast-nell995-pair"),
    "recipe-race-nell995-negation.svg": ("nell995-efol", "fast-nell995-efol"),
}
_INK, _OURS, _PAPER, _FAINT = "#333333", "#1f6fb2", "#c4472f", "#d9d9d9"
_COLOURS = (_PAPER, _OURS, "#3a923a")
_AXES = "mean MRR of validation in percent, over the time of training by its logarithm"
_LETTER = 6.2  # width of one at this size, in the mean
_TICKS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18_000, 36_000, 86_400)


@dataclass(frozen=True)
class Curve:
    """The mean MRR of a recipe over time."""

    label: str
    points: Sequence[tuple[float, float]]  # seconds, MRR in percent
    test: float | None = None  # mean test MRR of its best weights, where those were ranked


def figures() -> dict[str, str]:
    """Returns the text of every picture by the name of its file."""
    longest = _longest()
    return {name: _race(name, longest) for name in RACES}


def _longest() -> dict[str, Record]:
    """Returns the longest record of each run with its own settings and a curve over its structures."""
    found: dict[str, Record] = {}
    for record in read_records():
        whole = record.curve and all(set(_group(record)[1]) <= look.keys() for look in record.curve)
        longer = record.run not in found or record.seconds > found[record.run].seconds
        if whole and longer and not record.variant:
            found[record.run] = record
    return found


def _race(name: str, longest: Mapping[str, Record]) -> str:
    run = read_run(RACES[name][0])
    pairs = zip(RACES[name], WHOSE, strict=False)
    curves = [_curve(longest[one], f"{whose}, {_looks(longest[one])}") for one, whose in pairs]
    return race(curves, run.paper.mrr.get("avg negation" if run.trained == "efol" else "avg"))


def _group(record: Record) -> tuple[str, tuple[str, ...]]:
    """Returns the name and the structures of a run's average: those with negation if trained, else the nine others.

    A run with another beside it is judged by the nine, which it is there for.
    """
    negated = record.settings.get("trained") == "efol" and not record.settings.get("second_model")
    return ("avg negation", NEGATION_STRUCTURES) if negated else ("avg", EPFO)


def _curve(record: Record, label: str) -> Curve:
    """Returns the mean over the structures of its group; the time includes that of its start tables."""
    (average, structures), before = _group(record), record.seconds_before or 0.0
    points = [(before + look["seconds"], _mean(look, structures)) for look in record.curve]
    return Curve(label, points, record.figures(record.kind("best")).get(average))


def _looks(record: Record) -> str:
    count = record.settings.get("valid_queries")
    queries = "all validation queries" if count is None else f"{count:,} validation queries a structure"
    other = ", other batch and rate" if {"training.batch", "training.update.rate"} <= record.changes.keys() else ""
    return f"{queries}{other}" + (
        f", up to {record.runs_on_device} runs on the card" if record.runs_on_device > 1 else ""
    )


def race(curves: Sequence[Curve], paper: float | None = None) -> str:
    """Draws several recipes in one picture; paper: the paper's test figure, drawn as a line."""
    left, top, wide, high = 44, 20, 560, 240
    least, end = (f(s for curve in curves for s, _ in curve.points) for f in (min, max))
    most = 1.15 * max([value for curve in curves for _, value in curve.points] + ([paper] if paper else []))

    def x(seconds: float) -> float:
        return round(left + wide * math.log(seconds / least) / math.log(max(end / least, 1.001)), 1)

    def y(value: float) -> float:
        return round(top + high * (1 - value / most), 1)

    parts = [
        f'<text x="{left}" y="{top - 8}" fill="{_INK}">{_AXES}</text>',
        f'<path d="M{left},{top} V{top + high} H{left + wide}" fill="none" stroke="{_INK}"/>',
    ]
    for second in (tick for tick in _TICKS if least <= tick <= end):
        parts.append(f'<path d="M{x(second)},{top} V{top + high}" stroke="{_FAINT}"/>')
        parts.append(f'<text x="{x(second)}" y="{top + high + 14}" text-anchor="middle">{_time(second)}</text>')
    for value in _marks(most):
        parts.append(f'<text x="{left - 6}" y="{y(value) + 4}" text-anchor="end">{value:g}</text>')
    if paper:
        parts.append(f'<path d="M{left},{y(paper)} H{left + wide}" stroke="{_INK}" stroke-dasharray="5 4"/>')
        words = f"the paper, test: {paper:.1f}"
        parts.append(f'<text x="{left + 8}" y="{y(paper) - 5}">{words}</text>')
    widest = left + wide + 20
    for place, curve in enumerate(curves):
        colour = _COLOURS[place % len(_COLOURS)]
        line = " ".join(f"{x(s)},{y(v)}" for s, v in curve.points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        parts.extend(f'<circle cx="{x(s)}" cy="{y(v)}" r="2.5" fill="{colour}"/>' for s, v in curve.points)
        below = top + high + 34 + 16 * place  # under the picture, where no curve passes
        tested = "" if curve.test is None else f", its best weights on the test {curve.test:.1f}"
        words = f"— {escape(curve.label)}: {curve.points[-1][1]:.1f} at the end{tested}"
        parts.append(f'<text x="{left}" y="{below}" fill="{colour}">{words}</text>')
        widest = max(widest, left + math.ceil(_LETTER * len(words)))
    return _svg(widest, top + high + 30 + 16 * len(curves), parts)


def _mean(look: Mapping[str, float], structures: Sequence[str]) -> float:
    return sum(look[name] for name in structures) / len(structures)


def _time(seconds: int) -> str:
    if seconds < 60:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 3600 else f"{seconds // 3600} h"


def _marks(most: float) -> list[float]:
    """Returns at least three round figures below `most`."""
    step = next(step for step in (5.0, 2.0, 1.0, 0.5, 0.1) if most / step >= 3 or step == 0.1)
    return [step * n for n in range(1, int(most / step) + 1)]


def _svg(width: int, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    write_images(figures())
