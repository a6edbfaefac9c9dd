"""The benchmark of releases measures every form beside the engine, and shows it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch

from pathformer.engine.engine import Engine
from pathformer.index import build as build_index
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models import build


@pytest.fixture(scope="module")
def case(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("benchmarks/release.py")


def test_every_form_is_measured_beside_the_engine(
    case: ModuleType,
    small_graph_triples: dict[str, list[tuple[str, str, str]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    parts = (small_graph_triples[part] for part in ("train", "valid", "test"))
    kg = KnowledgeGraph.from_triples(*parts, name="small")
    torch.manual_seed(0)
    names = kg.vocabulary
    settings = {"dim": 64, "layers": 1, "heads": 2}
    model = build("pathformer", settings, entities=names.entity_count, relations=names.relation_count)
    engine = Engine(kg, model, build_index("exact", model.entities.weight.detach(), model.space))
    figures = case.measured(engine, 3)
    assert list(figures) == ["full", "bf16", "int8"]
    weights = [figures[form]["bytes"]["weights"] for form in figures]
    assert weights[0] > 1.8 * weights[1] > 3.0 * weights[2]
    assert [figures[form]["bytes"]["index"] > 0 for form in figures] == [True, False, False]
    assert all(found["open_seconds"] > 0 and found["search_seconds"] > 0 for found in figures.values())
    assert "cost" not in figures["full"]
    assert figures["int8"]["cost"]["queries"]["2p"] == 3
    case.show("small", figures)
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown] == ["small", "form", "full", "bf16", "int8"]
    assert "cost" not in case.measured(engine, 0)["int8"]
