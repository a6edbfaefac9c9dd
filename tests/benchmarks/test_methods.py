"""The benchmark of methods trains every one of them, in a form that its settings allow, beside counting."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from pathformer import plugins


@pytest.fixture(scope="module")
def case(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("benchmarks/methods.py")


def test_every_method_has_a_row(case: ModuleType) -> None:
    rows = case.METHODS
    ours = {"complex", "composed", "pair"}  # which answers links alone, and which is never trained itself
    assert {settings[0] for settings in rows.values()} == set(plugins.names("models")) - ours
    assert len(rows) == 13
    assert {row for row in rows if case._negates(row)} == {
        *("pathformer", "betae", "cone", "gammae", "mlp", "fuzzqe", "q2p")
    }


def test_every_row_is_small_and_trained_in_one_update_on_all_structures(case: ModuleType, tmp_path: Path) -> None:
    for row in case.METHODS:
        run = case.read(tmp_path, case.settings(row, "umls", "epfo", ["training.seed=3"]))
        assert (run.dataset, run.queries, run.trained, run.training.seed) == ("umls", "drawn", "epfo", 3)
        assert not run.training.update_per_structure
        assert run.model_settings["dim"] in (32, 64)


def test_rows_are_kept_in_order_beside_those_that_are_there(case: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "methods.json"
    for kind, row in (("epfo", "mlp"), ("epfo", "counting"), ("efol", "mlp"), ("epfo", "gqe"), ("epfo", "mlp")):
        case.keep(path, kind, row, {"mrr": {"1p": 1.0}}, {"dataset": "umls"})
    figures = json.loads(path.read_text())["figures"]
    assert {kind: list(figures[kind]) for kind in ("epfo", "efol")} == {
        "epfo": ["counting", "gqe", "mlp"],
        "efol": ["mlp"],
    }
    assert figures["dataset"] == "umls"


def test_a_line_shows_what_there_is(case: ModuleType) -> None:
    line = case.shown("gqe", {"updates": 20, "mrr": {"1p": 12.3, "avg": 4.5}})
    assert line.split() == ["gqe", "20", "12.3", *["-"] * 8, "4.5", "-"]


@pytest.mark.slow
@pytest.mark.data
def test_a_row_is_trained_and_ranked(case: ModuleType, data_dir: Path, tmp_path: Path) -> None:
    words = case.settings("gqe", "umls", "epfo", [])
    material = case.cut(case.gather(case.read(tmp_path, words), data_dir), 20)
    assert {len(queries) for queries in material.sets["test"].values()} == {20}
    found = case.measured(words, 0.01, material)
    assert found["updates"] >= 20
    assert set(found["mrr"]) == set(case.counting(material)["mrr"])
    assert 0.0 < found["mrr"]["2i"] < 100.0
