"""The benchmark of indexes measures an engine by its own distance, every backend beside the searches of others."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from support.engines import engine_over

from pathformer.engine.engine import Engine
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build


@pytest.fixture(scope="module")
def bench(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("benchmarks/index.py")


@pytest.fixture
def graph(small_graph_triples: dict[str, list[tuple[str, str, str]]]) -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(small_graph_triples["train"], name="small")


def engine_in(space: str, graph: KnowledgeGraph) -> Engine:
    torch.manual_seed(0)
    names, settings = graph.vocabulary, {"dim": 16, "layers": 1, "heads": 2, "space": space}
    model = build("pathformer", settings, entities=names.entity_count, relations=names.relation_count)
    return engine_over(graph, model)


@pytest.mark.parametrize(("space", "metric"), [("hermitian", "inner"), ("point", "l1"), ("sphere", "cosine")])
def test_an_engine_is_measured_by_its_own_distance(
    bench: ModuleType, graph: KnowledgeGraph, space: str, metric: str, capsys: pytest.CaptureFixture[str]
) -> None:
    case = bench.Case.of_engine(engine_in(space, graph))
    assert case.measure.kind == metric
    assert len(case.asked) == 14
    figures = bench.measure(case, ["exact", "hnsw", "lsh"], 2, 4)
    others = ["torch"] if metric == "cosine" else ["faiss exact", "torch"]
    assert list(figures) == ["exact", "hnsw", "lsh", *others]
    for name in ("exact", "hnsw", "lsh"):
        assert figures[name]["recall"] >= 0.95
        assert set(figures[name]["recall_by_structure"]) == set(case.asked)
    bench.show(figures, "small")
    assert "recall@10" in capsys.readouterr().out


def test_the_searches_of_others_find_the_same(bench: ModuleType, graph: KnowledgeGraph) -> None:
    case = bench.Case.of_engine(engine_in("hermitian", graph))
    points = case.asked["2i"]
    found = case.build("exact").nearest(points, 10)
    others = bench.baselines(case)
    assert np.allclose(-others["torch"](points).values.numpy(), found.distances, atol=1e-5)
    assert np.allclose(-others["faiss exact"](points)[0], found.distances, atol=1e-5)


def test_a_space_that_only_exact_knows_has_nothing_beside_it(bench: ModuleType, graph: KnowledgeGraph) -> None:
    case = bench.Case.of_engine(engine_in("beta", graph))
    assert case.measure is None
    assert list(bench.measure(case, ["exact"], 2, 4)) == ["exact"]


@pytest.mark.parametrize(("about", "mrr"), [({"mrr": 0.4}, 0.4), ({"mrr": None}, None), ({}, None)])
def test_an_engine_s_own_figure_is_told(
    bench: ModuleType, graph: KnowledgeGraph, about: dict[str, Any], mrr: float | None
) -> None:
    one = engine_in("point", graph)
    assert bench.Case.of_engine(Engine(graph, one.encoder, one.index, about=about)).mrr == mrr
