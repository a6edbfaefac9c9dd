"""Draw the learning curves of recorded runs into docs/images: `python scripts/draw_results.py`. A test compares them.

A panel a structure: validation MRR over minutes, the test figure of the last weights as a dot, the paper's as a line.
`recipe-race.svg`: several recipes in one.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
LOGS = ROOT / "benchmarks" / "runs"
RUNS = {  # picture -> log, structures, the name of their average
    "fb15k-237-epfo.svg": (LOGS / "fb15k-237-epfo-17min", EPFO, "avg"),
    "fb15k-237-efol.svg": (LOGS / "fb15k-237-efol-9min", NEGATION_STRUCTURES, "avg negation"),
}

RACE = {  # what is written -> folder, colour
    "the paper's recipe: margin, L1, six layers (500 validation queries a structure)": (
        "fb15k-237-epfo-17min",
        "#c4472f",
    ),
    "softmax over all entities, cosine, six layers (1,000)": ("fb15k-237-softmax-45s", "#1f6fb2"),
}

WIDE, HIGH, GAP, LEFT, TOP, COLUMNS = 150, 110, 44, 40, 34, 5
INK, OURS, PAPER, FAINT = "#333333", "#1f6fb2", "#c4472f", "#d9d9d9"


def figures() -> dict[str, str]:
    """The text of every picture by the name of its file."""
    return {name: curves(*run) for name, run in RUNS.items()} | {"recipe-race.svg": race()}


def race() -> str:
    """Mean validation MRR of several recipes over the seconds they took, which are drawn by their logarithm."""
    left, top, wide, high = 44, 20, 560, 240
    drawn = {name: _mean_curve(LOGS / folder) for name, (folder, _) in RACE.items()}
    least, end = (f(s for curve in drawn.values() for s, _ in curve) for f in (min, max))
    most = 1.15 * max(value for curve in drawn.values() for _, value in curve)

    def x(seconds: float) -> float:
        return round(left + wide * math.log(seconds / least) / math.log(end / least), 1)

    def y(value: float) -> float:
        return round(top + high * (1 - value / most), 1)

    parts = [f'<path d="M{left},{top} V{top + high} H{left + wide}" fill="none" stroke="{INK}"/>']
    for second in (10, 30, 60, 180, 600, 1000):
        parts.append(f'<path d="M{x(second)},{top} V{top + high}" stroke="{FAINT}"/>')
        parts.append(f'<text x="{x(second)}" y="{top + high + 14}" text-anchor="middle">{second} s</text>')
    for value in range(5, int(most) + 1, 5):
        parts.append(f'<text x="{left - 6}" y="{y(value) + 4}" text-anchor="end">{value}</text>')
    for place, (name, curve) in enumerate(drawn.items()):
        colour = RACE[name][1]
        line = " ".join(f"{x(s)},{y(v)}" for s, v in curve)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        parts.extend(f'<circle cx="{x(s)}" cy="{y(v)}" r="2.5" fill="{colour}"/>' for s, v in curve)
        parts.append(f'<text x="{left + 12}" y="{top + 14 + 16 * place}" fill="{colour}">{name}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + wide + 20} {top + high + 26}" '
        f'width="{left + wide + 20}" height="{top + high + 26}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _mean_curve(folder: Path) -> list[tuple[float, float]]:
    """Seconds and the mean MRR over the EPFO structures, in percent."""
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(line["seconds"], 100 * sum(line[f"valid/{name}"] for name in EPFO) / len(EPFO)) for line in log]


def curves(folder: Path, structures: tuple[str, ...], average: str) -> str:
    """All panels of one run."""
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    test = json.loads((folder / "test-last.json").read_text(encoding="utf-8"))
    minutes = [line["seconds"] / 60 for line in log]
    valid = {name: [100 * line[f"valid/{name}"] for line in log] for name in structures}
    valid = {average: [sum(values) / len(values) for values in zip(*valid.values(), strict=True)]} | valid
    ours = {name: 100 * test["scores"][name]["mrr"] for name in structures}
    ours[average] = 100 * test["averages"][average]["mrr"]
    drops = [minutes[-1] / 2, 3 * minutes[-1] / 4]
    panels = [
        panel(place, name, minutes, values, ours[name], test["paper"][name], drops)
        for place, (name, values) in enumerate(valid.items())
    ]
    rows = -(-len(panels) // COLUMNS)
    width, height = LEFT + COLUMNS * (WIDE + GAP), TOP + rows * (HIGH + GAP) + 22
    legend = (
        f'<text x="{LEFT}" y="{height - 8}"><tspan fill="{OURS}">— validation, ● test (last weights)</tspan>'
        f'<tspan dx="18" fill="{PAPER}">— paper, test</tspan>'
        f'<tspan dx="18" fill="{INK}">MRR in percent over minutes; dotted: the learning rate drops</tspan></text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(panels)
        + f"\n{legend}\n</svg>\n"
    )


def panel(
    place: int, name: str, minutes: list[float], values: list[float], test: float, paper: float, drops: list[float]
) -> str:
    """One structure."""
    left = LEFT + place % COLUMNS * (WIDE + GAP)
    top = TOP + place // COLUMNS * (HIGH + GAP)
    most, end = 1.12 * max(*values, test, paper), max(minutes)

    def x(minute: float) -> float:
        return round(left + WIDE * minute / end, 1)

    def y(value: float) -> float:
        return round(top + HIGH * (1 - value / most), 1)

    line = " ".join(f"{x(m)},{y(v)}" for m, v in zip(minutes, values, strict=True))
    parts = [
        f'<text x="{left}" y="{top - 8}" fill="{INK}" font-weight="bold">{name}</text>',
        f'<path d="M{left},{top} V{top + HIGH} H{left + WIDE}" fill="none" stroke="{INK}"/>',
        *(f'<path d="M{x(d)},{top} V{top + HIGH}" stroke="{FAINT}" stroke-dasharray="2 3"/>' for d in drops),
        f'<path d="M{left},{y(paper)} H{left + WIDE}" stroke="{PAPER}"/>',
        f'<text x="{left - 4}" y="{y(paper) + 4}" text-anchor="end" fill="{PAPER}">{paper:.1f}</text>',
        f'<polyline points="{line}" fill="none" stroke="{OURS}" stroke-width="1.5"/>',
        f'<circle cx="{x(end)}" cy="{y(test)}" r="3" fill="{OURS}"/>',
        f'<text x="{left + WIDE + 6}" y="{y(test) + 4}" fill="{OURS}">{test:.1f}</text>',
        f'<text x="{left}" y="{top + HIGH + 13}" fill="{INK}">0</text>',
        f'<text x="{left + WIDE}" y="{top + HIGH + 13}" text-anchor="end" fill="{INK}">{end:.0f} min</text>',
    ]
    return "\n".join(parts)


def main() -> None:
    """Write them all."""
    IMAGES.mkdir(exist_ok=True)
    for name, text in figures().items():
        (IMAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
