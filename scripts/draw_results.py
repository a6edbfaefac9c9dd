"""Draw the learning curves of recorded runs into docs/images: `python scripts/draw_results.py`. A test compares them.

A panel a structure: validation MRR over minutes, the test figure of the last weights as a dot, the paper's as a line.
"""

from __future__ import annotations

import json
from pathlib import Path

from pathformer.query.structures import EPFO, NEGATION_STRUCTURES

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
LOGS = ROOT / "benchmarks" / "runs"
RUNS = {  # picture -> log, structures, the name of their average
    "fb15k-237-epfo.svg": (LOGS / "fb15k-237-epfo-17min", EPFO, "avg"),
    "fb15k-237-efol.svg": (LOGS / "fb15k-237-efol-9min", NEGATION_STRUCTURES, "avg negation"),
}

WIDE, HIGH, GAP, LEFT, TOP, COLUMNS = 150, 110, 44, 40, 34, 5
INK, OURS, PAPER, FAINT = "#333333", "#1f6fb2", "#c4472f", "#d9d9d9"


def figures() -> dict[str, str]:
    """The text of every picture by the name of its file."""
    return {name: curves(*run) for name, run in RUNS.items()}


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
