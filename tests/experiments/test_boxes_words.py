"""How `benchmarks/boxes.py` reads its arguments."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "boxes.py"
    spec = importlib.util.spec_from_file_location("boxes_script", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_run_with_minutes_a_variant_and_settings(script: ModuleType) -> None:
    words = "fast-fb15k-237@6#seed1,training.seed=1"
    (box,) = script.boxes(words, 5.0, ["valid_queries=1000"], "all")
    assert (box.run, box.minutes, box.variant) == ("fast-fb15k-237", 6.0, "seed1")
    assert box.settings == ("valid_queries=1000", "training.seed=1")
    assert box.file_name == "fast-fb15k-237@6min-seed1.json"


def test_what_is_not_given_is_everybody_s(script: ModuleType) -> None:
    (box,) = script.boxes("fb15k-237-epfo+fb15k-237-q2b", 5.0, [], "all")
    assert (box.run, box.also, box.minutes, box.variant) == ("fb15k-237-epfo", ("fb15k-237-q2b",), 5.0, "all")


def test_the_rows_of_a_table(script: ModuleType) -> None:
    rows = script.boxes("table:8:nell995", 5.0, [], "")
    assert [box.run for box in rows][-2:] == ["nell995-epfo-betae", "nell995-beta"]
    with pytest.raises(SystemExit, match="no dataset 'wn18' in table 8"):
        script.boxes("table:8:wn18", 5.0, [], "")
