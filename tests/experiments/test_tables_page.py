"""The page of the tables and the pictures of learning curves show the records of `benchmarks/records`."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from pathformer.experiments.records import read_records
from pathformer.experiments.tables.catalogue import MEASURED

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / "make_tables_docs.py"))


def test_the_page_is_current(made: dict[str, Any]) -> None:
    written = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert written == made["page"](), "run: python scripts/make_tables_docs.py"


def test_the_learning_curves_are_current() -> None:
    for name, text in runpy.run_path(str(ROOT / "scripts" / "draw_results.py"))["figures"]().items():
        drawn = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
        assert drawn == text, "run: python scripts/draw_results.py"


def test_a_table_is_shown_by_the_variant_that_has_most_of_its_rows(made: dict[str, Any]) -> None:
    shown = {table.number: table for table in made["shown"](read_records())}
    assert "variant" not in shown[1].title
    assert shown[6].title.endswith("; variant short")
    assert all(line.ours is not None for line in shown[6].lines)


def test_the_page_counts_runs_and_figures_right() -> None:
    text = " ".join((ROOT / "docs" / "tables.md").read_text(encoding="utf-8").split())
    runs = {place.run for table in MEASURED.values() for place in table.places}
    figures = sum(len(table.columns) * len(table.places) for table in MEASURED.values())
    assert f"{len(runs)} runs, {figures} figures" in text


def test_words_that_the_page_shows_by_are_there() -> None:
    """A variant that no record has any longer is an error for who follows the page."""
    told = set(re.findall(r"--variant ([a-z]\w*)", (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")))
    assert told == {"short"} <= {one.variant for one in read_records()}
