"""Learning curves of recorded runs as pictures: MRR of validation over the time that it took.

`panels`: one run, a panel a structure, with its test figure as a dot and the paper's as a line. `race`: several recipes
in one picture, their seconds by the logarithm, so that a minute and a day both have room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from pathformer.experiments.records import Record
from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

__all__ = ["Curve", "curve_of_record", "group_of", "panels", "race"]

Points = Sequence[tuple[float, float]]  # seconds, MRR in percent

_WIDE, _HIGH, _GAP, _LEFT, _TOP, _COLUMNS = 150, 110, 62, 40, 34, 5
_INK, _OURS, _PAPER, _FAINT = "#333333", "#1f6fb2", "#c4472f", "#d9d9d9"
_COLOURS = (_PAPER, _OURS, "#3a923a", "#8c5fb0", "#8c6d31")
_AXES = "mean MRR of validation in percent, over the time of training by its logarithm"
_LETTER = 6.2  # width of one at this size, in the mean
_TICKS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18_000, 36_000, 86_400)


@dataclass(frozen=True)
class Curve:
    """Mean MRR of a recipe over time."""

    label: str
    points: Points
    test: float | None = None  # mean test MRR of its best weights, where those were ranked


def group_of(record: Record) -> tuple[str, tuple[str, ...]]:
    """The average that a run is judged by, and its structures: negation where it was trained, else the nine others.

    A run with another beside it is judged by the nine, which it is there for.
    """
    negated = record.settings.get("trained") == "efol" and not record.settings.get("beside")
    return ("avg negation", NEGATION_STRUCTURES) if negated else ("avg", EPFO)


def curve_of_record(record: Record, label: str) -> Curve:
    """The mean over the structures of its group; what its tables started from is part of the time."""
    (average, structures), before = group_of(record), record.before or 0.0
    points = [(before + look["seconds"], _mean(look, structures)) for look in record.curve]
    return Curve(label, points, record.figures(record.kind("best")).get(average))


def race(curves: Sequence[Curve], paper: float | None = None) -> str:
    """Several recipes in one picture; paper: its test figure, as a line."""
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


def panels(record: Record, paper: Mapping[str, float]) -> str:
    """A panel a structure of one run, their mean first; test figures of its last weights, where those were ranked."""
    average, structures = group_of(record)
    kind, before = record.kind("last"), record.before or 0.0
    minutes = [(before + look["seconds"]) / 60 for look in record.curve]
    valid = {average: [_mean(look, structures) for look in record.curve]}
    valid |= {name: [look[name] for look in record.curve] for name in structures}
    test = record.figures(kind)
    drops = [minutes[-1] * share for share in (0.5, 0.75)] if _drops(record) else []
    made = [
        _panel(place, name, minutes, values, test.get(name), paper.get(name), drops)
        for place, (name, values) in enumerate(valid.items())
    ]
    rows = -(-len(made) // _COLUMNS)
    width, height = _LEFT + _COLUMNS * (_WIDE + _GAP), _TOP + rows * (_HIGH + _GAP) + 22
    dotted = "; dotted: the learning rate drops" if drops else ""
    legend = (
        f'<text x="{_LEFT}" y="{height - 8}"><tspan fill="{_OURS}">— validation, ● test ({kind} weights)</tspan>'
        f'<tspan dx="18" fill="{_PAPER}">— paper, test</tspan>'
        f'<tspan dx="18" fill="{_INK}">MRR in percent over minutes{dotted}</tspan></text>'
    )
    return _svg(width, height, [*made, legend])


def _panel(
    place: int,
    name: str,
    minutes: Sequence[float],
    values: Sequence[float],
    test: float | None,
    paper: float | None,
    drops: Sequence[float],
) -> str:
    """One structure."""
    left = _LEFT + place % _COLUMNS * (_WIDE + _GAP)
    top = _TOP + place // _COLUMNS * (_HIGH + _GAP)
    most, end = 1.12 * max(*values, *(given for given in (test, paper) if given is not None), 0.1), max(minutes)

    def x(minute: float) -> float:
        return round(left + _WIDE * minute / end, 1)

    def y(value: float) -> float:
        return round(top + _HIGH * (1 - value / most), 1)

    line = " ".join(f"{x(m)},{y(v)}" for m, v in zip(minutes, values, strict=True))
    parts = [
        f'<text x="{left}" y="{top - 8}" fill="{_INK}" font-weight="bold">{name}</text>',
        f'<path d="M{left},{top} V{top + _HIGH} H{left + _WIDE}" fill="none" stroke="{_INK}"/>',
        *(f'<path d="M{x(d)},{top} V{top + _HIGH}" stroke="{_FAINT}" stroke-dasharray="2 3"/>' for d in drops),
        f'<polyline points="{line}" fill="none" stroke="{_OURS}" stroke-width="1.5"/>',
        f'<text x="{left}" y="{top + _HIGH + 13}" fill="{_INK}">0</text>',
        f'<text x="{left + _WIDE}" y="{top + _HIGH + 13}" text-anchor="end" fill="{_INK}">{_minutes(end)} min</text>',
    ]
    if paper is not None:
        parts.append(f'<path d="M{left},{y(paper)} H{left + _WIDE}" stroke="{_PAPER}"/>')
        parts.append(f'<text x="{left - 4}" y="{y(paper) + 4}" text-anchor="end" fill="{_PAPER}">{paper:.1f}</text>')
    if test is not None:
        parts.append(f'<circle cx="{x(end)}" cy="{y(test)}" r="3" fill="{_OURS}"/>')
        parts.append(f'<text x="{left + _WIDE + 6}" y="{y(test) + 4}" fill="{_OURS}">{test:.1f}</text>')
    return "\n".join(parts)


def _minutes(end: float) -> str:
    """Whole ones, but of short boxes two digits: 0.41, 1.2, 4, 20, 110."""
    return f"{end:.2g}" if end < 10 else f"{end:.0f}"


def _mean(look: Mapping[str, float], structures: Sequence[str]) -> float:
    return sum(look[name] for name in structures) / len(structures)


def _drops(record: Record) -> bool:
    """Whether the rate was divided at 1/2 and 3/4 of the run, as in the reference code."""
    return str(record.settings.get("training.schedule", "reference")) == "reference"


def _time(seconds: int) -> str:
    if seconds < 60:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 3600 else f"{seconds // 3600} h"


def _marks(most: float) -> list[float]:
    """Round figures below `most`, at least three."""
    step = next(step for step in (5.0, 2.0, 1.0, 0.5, 0.1) if most / step >= 3 or step == 0.1)
    return [step * n for n in range(1, int(most / step) + 1)]


def _svg(width: int, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
