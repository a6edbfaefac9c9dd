"""Recorded runs: their pictures are current, and what the documentation says of them is what was recorded."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from pathformer.experiments.settings import read_run
from pathformer.query.structures import EPFO

ROOT = Path(__file__).parents[2]
RUN = ROOT / "benchmarks" / "runs" / "fb15k-237-epfo-17min"


def test_pictures_are_current() -> None:
    for name, text in runpy.run_path(str(ROOT / "scripts" / "draw_results.py"))["figures"]().items():
        drawn = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
        assert drawn == text, "run: python scripts/draw_results.py"


def test_the_page_shows_the_recorded_figures() -> None:
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    test = json.loads((RUN / "test-last.json").read_text(encoding="utf-8"))
    figures = [test["scores"][name]["mrr"] for name in EPFO] + [test["averages"]["avg"]["mrr"]]
    assert f"| ours, betae-protocol draw | {' | '.join(f'{100 * f:.1f}' for f in figures)} |" in page
    paper = [test["paper"][name] for name in (*EPFO, "avg")]
    assert f"| paper, BetaE queries | {' | '.join(map(str, paper))} |" in page


@pytest.mark.parametrize("table", [1, 2])
def test_the_page_shows_the_papers_figures(table: int) -> None:
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    run = read_run({1: "fb15k-237-epfo", 2: "fb15k-237-q2b"}[table])
    words = {1: "paper, BetaE queries", 2: "paper, Query2box queries"}[table]
    assert f"| {words} | {' | '.join(str(run.paper.mrr[name]) for name in (*EPFO, 'avg'))} |" in page
