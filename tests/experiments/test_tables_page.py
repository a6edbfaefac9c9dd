"""The page of the tables shows the results that are in the package, and so do its pictures."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from pathformer.experiments.tables.catalogue import MEASURED

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / "make_tables_docs.py"))


def test_the_page_is_current(made: dict[str, Any]) -> None:
    written = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert written == made["page"](), "run: python scripts/make_tables_docs.py"


def test_the_pictures_are_current(made: dict[str, Any]) -> None:
    folder = ROOT / "docs" / "images"
    drawn = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("table-*.svg")}
    assert drawn == made["pictures"](), "run: python scripts/make_tables_docs.py"


def test_the_page_counts_runs_and_figures_right() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    runs = {place.run for table in MEASURED.values() for place in table.places}
    figures = sum(len(table.columns) * len(table.places) for table in MEASURED.values())
    assert f"{len(runs)} runs, {figures} figures" in text
