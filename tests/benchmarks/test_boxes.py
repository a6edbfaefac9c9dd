"""How `benchmarks/boxes.py` reads its arguments."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import boxes


def test_a_run_with_minutes_a_variant_and_settings() -> None:
    words = "fast-fb15k-237@6#seed1,training.seed=1"
    (box,) = boxes.boxes(words, 5.0, ["valid_queries=1000"], "all")
    assert (box.run, box.minutes, box.variant) == ("fast-fb15k-237", 6.0, "seed1")
    assert box.settings == ("valid_queries=1000", "training.seed=1")
    assert box.file_name == "fast-fb15k-237@6min-seed1.json"


def test_what_is_not_given_is_everybody_s() -> None:
    (box,) = boxes.boxes("fb15k-237-epfo+fb15k-237-q2b", 5.0, [], "all")
    assert (box.run, box.also, box.minutes, box.variant) == ("fb15k-237-epfo", ("fb15k-237-q2b",), 5.0, "all")


def test_the_rows_of_a_table() -> None:
    rows = boxes.boxes("table:8:nell995", 5.0, [], "")
    assert [box.run for box in rows][-2:] == ["nell995-epfo-betae", "nell995-beta"]
    with pytest.raises(SystemExit, match="no dataset 'wn18' in table 8"):
        boxes.boxes("table:8:wn18", 5.0, [], "")
