"""What the tests of the recipe's pages read: its tables, the records that they are of, and what was logged."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pathformer.experiments.records import PACKAGED, Record, read_records
from pathformer.query.structures import EPFO

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "benchmarks" / "runs"
PAGE = (ROOT / "docs" / "recipe.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())


def section(start: str, end: str) -> list[list[str]]:
    """The cells of the lines of tables between two places of the page, without their marks."""
    text = PAGE[PAGE.index(start) :]
    lines = text[: text.index(end)].splitlines()
    return [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]


def row(start: str, end: str, first: str) -> list[str]:
    """The one line that begins with these words, without them."""
    found = [line[1:] for line in section(start, end) if line[0].startswith(first)]
    assert len(found) == 1, first
    return found[0]


def record_of(name: str, folder: Path = PACKAGED) -> Record:
    return {record.file_name: record for record in read_records([folder])}[name]


def lever_of(folder: str, name: str) -> dict[str, Any]:
    kept = json.loads((RUNS / folder / "levers.json").read_text(encoding="utf-8"))["figures"]["levers"]
    (found,) = (figures for title, figures in kept.items() if title.partition(":")[0] == name)
    return dict(found)


def looks(folder: str, name: str) -> dict[int, dict[str, float]]:
    """The validations of a lever by update, in percent."""
    lines = map(json.loads, (RUNS / folder / f"log-{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return {int(line["step"]): {k.removeprefix("valid/"): 100 * v for k, v in line.items()} for line in lines}


def looked(record: Record, names: Sequence[str] = EPFO) -> list[float]:
    """The mean over structures at each validation."""
    return [sum(look[name] for name in names) / len(names) for look in record.curve]


def pairs(cell: str) -> list[tuple[str, list[str]]]:
    """Of "20.7 → 23.5, 1p 41.1 → 45.4": what it is of, and both figures; the average has no name."""
    found = [re.fullmatch(r"(?:(\w+) )?([\d.]+) → ([\d.]+)", part) for part in cell.split(", ")]
    told = [(part[1] or "EPFO", [part[2], part[3]]) for part in found if part is not None]
    assert len(told) == len(found), cell
    return told


def rounds_to(shown: str, figure: float) -> bool:
    return abs(float(shown) - figure) <= 0.5 * float(f"1e-{len(shown.partition('.')[2])}") + 1e-9


def lines_of(first: str) -> list[list[str]]:
    return [line for line in section("| lever | expected | without", "In short:") if line[0].startswith(first)]
