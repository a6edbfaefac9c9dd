"""Unions weighed by probability: the same as a loop over every entity, exact on small tables, close on large ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from support.engines import engine_over

from pathformer.engine.engine import Engine
from pathformer.engine.find import weighted_union
from pathformer.engine.find.weighted_union import unite
from pathformer.index._base import build_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model, build
from pathformer.models._encoder import TorchEncoder
from pathformer.query.structures import STRUCTURES
from pathformer.symbolic.answer import answer
from pathformer.symbolic.impossible import impossible_answers


def likely(distances: np.ndarray) -> list[float]:
    """What one disjunct gives each entity."""
    odds = [math.exp(-float(d - distances.min())) for d in distances]
    return [one / sum(odds) for one in odds]


@pytest.fixture
def weighed(engine: Engine) -> Iterator[Engine]:
    engine.encoder.model.combine = "probability"
    yield engine
    engine.encoder.model.combine = "smallest"


@pytest.mark.parametrize("whole", [1 << 22, 0])
def test_what_was_removed_from_the_index_is_found_by_no_union(
    weighed: Engine, whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weighted_union, "_WHOLE", whole)
    index = build_for(weighed.encoder)
    tree = STRUCTURES["2u"].tree([0, 0, 1, 2])
    points, none = weighed.encoder.points([tree]).rows, np.empty(0, np.int64)
    first = unite(points, weighed.encoder, index, none, none, 3).others
    index.remove(first[:1])
    found = unite(points, weighed.encoder, index, none, none, 3).others
    assert len(found) == 3
    assert found[:2].tolist() == first[1:].tolist()


@pytest.mark.parametrize("read", ["whole", "estimated from all"])
def test_a_union_is_a_full_sort_by_the_sum_of_probabilities(
    weighed: Engine, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if read != "whole":
        monkeypatch.setattr(weighted_union, "_WHOLE", 0)
        monkeypatch.setattr(weighted_union, "_DRAWN", 2000)  # of 18 entities: nothing is left to be estimated
    graph = weighed.kg.graph()
    rng = np.random.default_rng(1)
    changed = 0
    for name in ("2u", "up", "1p", "2i"):
        structure = STRUCTURES[name]
        bounds = {"e": graph.entities, "r": weighed.kg.vocabulary.relation_count}
        trees = [structure.tree([int(rng.integers(bounds[c])) for c in structure.columns]) for _ in range(12)]
        for tree, found in zip(trees, weighed.candidates(trees, top=4), strict=True):
            points = weighed.encoder.points([tree]).rows
            apart = weighed.encoder.distances(points)
            if len(points) == 1:
                loop = apart[0]
            else:
                shares = [likely(row) for row in apart]
                loop = np.array([-math.log(sum(row[e] for row in shares)) for e in range(graph.entities)])
                changed += loop.argmin() != apart.min(axis=0).argmin()
            known, barred = answer(tree, graph), impossible_answers(tree, graph)
            others = [e for e in np.argsort(loop, kind="stable").tolist() if e not in {*known, *barred}][:4]
            assert found.entities[found.predicted].tolist() == others
            assert sorted(found.entities[found.known].tolist()) == sorted(known.tolist())
            assert found.distances == pytest.approx(loop[found.entities], rel=1e-4, abs=1e-4)
    assert changed, "no union was decided by the probabilities: the test shows nothing"


def test_known_answers_alone_can_be_asked_for(weighed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "?x : stars(La_Strada, ?x) | stars(Leopard, ?x)"
    whole = weighed.ask(question, known=True, why=False)
    assert sorted(a.entity for a in whole) == ["Cardinale", "Lancaster", "Masina", "Quinn"]
    monkeypatch.setattr(weighted_union, "_WHOLE", 0)
    assert [a.entity for a in weighed.ask(question, known=True, why=False)] == [a.entity for a in whole]


@pytest.fixture(scope="module")
def large() -> Model:
    """30,000 entities in 30 bundles, so that some of them are much nearer than most, as in a trained table."""
    torch.manual_seed(0)
    settings = {"dim": 32, "layers": 1, "heads": 2, "space": "sphere", "combine": "probability"}
    model = build("pathformer", settings, entities=30_000, relations=4)
    with torch.no_grad():
        rows = torch.randn(30, 32)[torch.randint(30, (30_000,))] + 0.7 * torch.randn(30_000, 32)
        model.entities.weight.copy_(rows)
    return model.eval().requires_grad_(False)


@pytest.mark.parametrize("backend", ["exact", "lsh"])
def test_a_large_table_is_estimated_closely(large: Model, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = TorchEncoder(large)
    index = build_for(encoder, backend)
    common, read = 0, []
    for seed in range(5):
        drawn = torch.Generator().manual_seed(seed)
        points = (large.entities.weight[torch.randint(30_000, (2,), generator=drawn)] + 0.1).numpy()
        barred = np.unique(np.random.default_rng(seed).integers(0, 30_000, 40))
        known = barred[::2]
        monkeypatch.setattr(weighted_union, "_WHOLE", 1 << 22)
        exact = unite(points, encoder, index, known, barred, 10)
        monkeypatch.setattr(weighted_union, "_WHOLE", 0)
        near = unite(points, encoder, index, known, barred, 10)
        common += len(np.intersect1d(exact.others, near.others))
        assert near.near == pytest.approx(exact.near, abs=0.1)
        assert near.distances == pytest.approx(exact.distances, abs=0.1)
        assert (np.diff(near.distances) >= 0).all()
        assert not np.isin(near.others, barred).any()
        read.append(near)
    assert common >= 45
    again = unite(points, encoder, index, known, barred, 10)
    assert all(np.array_equal(one, other) for one, other in zip(again, read[-1], strict=True))


def test_an_engine_of_fit_can_weigh_unions(films: KnowledgeGraph, tmp_path: Path) -> None:
    """The setting is the model's, and is there again when the engine is opened."""
    names = films.vocabulary
    settings = {"dim": 16, "layers": 1, "heads": 2, "space": "sphere", "combine": "probability"}
    model = build("pathformer", settings, entities=names.entity_count, relations=names.relation_count)
    made = engine_over(films, model)
    question = "?x : stars(La_Strada, ?x) | directed(Fellini, ?x)"
    before = made.ask(question, why=False)
    opened = Engine.open(made.save(tmp_path / "engine")).ask(question, why=False)
    assert [(a.entity, a.score) for a in opened] == [(a.entity, pytest.approx(a.score, rel=1e-5)) for a in before]
    made.encoder.model.combine = "smallest"
    assert [a.score for a in made.ask(question, why=False)] != [a.score for a in before]
