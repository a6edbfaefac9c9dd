"""The benchmark of the clamp counts what no gradient reaches, and asks training queries as they were trained."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from pathformer.models import build
from pathformer.query.structures import STRUCTURES
from pathformer.symbolic.queries import Queries, Ragged

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def case(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("benchmarks/floor.py")


@pytest.mark.parametrize(("name", "floor"), [("betae", 0.05), ("gammae", 0.15)])
def test_what_is_at_the_floor_gets_no_gradient(case: ModuleType, name: str, floor: float) -> None:
    model = build(name, {"dim": 2, "hidden": 4}, entities=3, relations=2)
    with torch.no_grad():
        model.entities.weight.copy_(torch.tensor([[-5.0, 0.0, 1.0, floor - 1.1], [0.0] * 4, [floor - 0.9] * 4]))
    assert case.at_floor(model) == pytest.approx(100 * 2 / 12, abs=0.1)
    query = torch.tensor([[2.0, 3.0, 0.7, 1.3]])
    model.space.distance_to_all(query, model.entities.weight).sum().backward()
    grad = model.entities.weight.grad
    assert grad is not None
    assert (grad == 0).nonzero().tolist() == [[0, 0], [0, 3]]


def test_training_queries_are_asked_for_their_own_answers(case: ModuleType) -> None:
    ids = np.arange(8, dtype=np.int32).reshape(4, 2)
    nothing = Ragged(np.zeros(5, np.int64), np.empty(0, np.int32))
    trained = Queries(STRUCTURES["1p"], ids, Ragged.of([[1], [2, 3], [4], [5]]), nothing)
    asked = case.as_asked(trained, 2)
    assert asked.ids.tolist() == [[0, 1], [6, 7]]
    assert asked.hard.values.tolist() == [1, 5]
    assert len(asked.easy.values) == 0


def test_cases_are_rows_of_the_other_benchmark(case: ModuleType, script: Callable[[str], ModuleType]) -> None:
    rows = script("benchmarks/methods.py").METHODS
    assert all(row in rows and times >= 1 and updates % 4 == 0 for row, times, updates in case.CASES.values())


def test_the_page_shows_what_is_recorded() -> None:
    stored = BENCHMARKS / "results" / "floor-codex-s.json"
    figures = json.loads(stored.read_text(encoding="utf-8"))["figures"]
    page = (BENCHMARKS.parent / "docs" / "methods" / "index.md").read_text(encoding="utf-8")
    assert len(figures) == 5
    for case, quarters in figures.items():
        last = quarters[-1]
        trained, test = last["trained"], last["test"]
        cells = (case.split()[-1], f"{last['updates']:,}", f"{last['at the floor']} %", trained["1p"], trained["2i"])
        line = " | ".join(map(str, (*cells, test["1p"], test["2i"], test["avg"])))
        assert f"| {line} |" in page, case
