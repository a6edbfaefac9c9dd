"""Engines whose scores are inner products, as `fit` makes them, over every index: recall, answers, probabilities.

They fit the bundled graph in a few seconds.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import pathformer
from pathformer.cli._main import app
from pathformer.engine.answer.read import read_question
from pathformer.engine.engine import Engine
from pathformer.fitting.fit import fit
from pathformer.fitting.reindex import reindex
from pathformer.fitting.settings import settings_for
from pathformer.index._base import Index
from pathformer.kg.datasets import load as load_graph
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.sampler import sample
from pathformer.spaces.hermitian import Hermitian
from pathformer.symbolic.graph_pair import GraphPair

APPROXIMATE = ("hnsw", "lsh")


@pytest.fixture(scope="module")
def hashed() -> Engine:
    """`fit --index lsh` on the bundled graph, with a small model and few steps."""
    kg = load_graph("world")
    usual = settings_for(entities=kg.vocabulary.entity_count, triples=kg.triple_count, minutes=1.0).with_steps(6)
    assert usual.links is not None
    training = replace(usual.training, batch=48, validations=0)
    links = replace(
        usual.links,
        model={**usual.links.model, "rank": 16},
        training=replace(usual.links.training, steps=60, validations=0),
    )
    scale = replace(
        usual,
        trained_per_structure=100,
        held_out_per_structure=6,
        model={**usual.model, "dim": 32},
        training=training,
        links=links,
    )
    engine = fit(kg, index="lsh", settings=scale, progress=False)
    return Engine.of(replace(engine.parts, finders=replace(engine.finders, links=None)))  # points answer everything


@pytest.fixture(scope="module")
def exact(hashed: Engine) -> Engine:
    return reindex(hashed, "exact")


def instances(engine: Engine, each: int) -> dict[str, list[Any]]:
    """Questions of all fourteen structures, walked out of the graph, as nested tuples; other than those tuned by."""
    graphs, drawn = GraphPair.of(engine.kg.graph()), {}
    for name, structure in STRUCTURES.items():
        rows = sample(structure, graphs, each, seed=5).ids
        chosen = rows[np.random.default_rng(0).permutation(len(rows))[:each]]
        drawn[name] = [structure.instance(row.tolist()) for row in chosen]
        assert drawn[name], name
    return drawn


def points(engine: Engine, each: int) -> dict[str, np.ndarray]:
    trees = {
        name: [read_question(one, engine.kg).tree for one in some] for name, some in instances(engine, each).items()
    }
    return {name: engine.encoder.points(some).rows for name, some in trees.items()}


def recalls(index: Index, truth: Index, asked: dict[str, np.ndarray]) -> dict[str, float]:
    """Recall@10 a structure; at equal distances any entity counts. Distances are the exact index's, bit for bit."""
    found = {}
    for name, some in asked.items():
        near, all_of_them = index.nearest(some, 10), truth.nearest(some, 10)
        found[name] = (near.distances <= all_of_them.distances[:, -1:]).mean()
        same = near.ids == all_of_them.ids
        assert (near.distances == all_of_them.distances)[same].all()
    return found


def test_fit_with_an_approximate_index_keeps_the_usual_recipe(hashed: Engine) -> None:
    assert isinstance(hashed.encoder.model.space, Hermitian)
    assert (hashed.index.name, hashed.index.measure.kind) == ("lsh", "inner")
    assert hashed.index.about["recall@10 on a sample"] >= 0.99
    assert hashed.index.config.rerank < 0.2 * hashed.index.rows  # it does not measure everything


@pytest.mark.parametrize("backend", APPROXIMATE)
def test_recall_on_questions_of_all_structures(hashed: Engine, exact: Engine, backend: str) -> None:
    found = recalls(reindex(hashed, backend).index, exact.index, points(hashed, 24))
    assert np.mean(list(found.values())) >= 0.95, found
    assert min(found.values()) >= 0.9, found  # of 240 entities each


@pytest.mark.parametrize("backend", APPROXIMATE)
def test_answers_and_probabilities_are_those_of_the_exact_index(hashed: Engine, exact: Engine, backend: str) -> None:
    """Known answers one and all, predicted ones up to recall; what both give has the same score and probability."""
    other = reindex(hashed, backend)
    asked = [one for some in instances(hashed, 4).values() for one in some]
    common = first = wanted = 0
    found = [one.ask(asked, why=False, any_kind=True) for one in (other, exact)]
    for here, there in zip(*found, strict=True):
        assert {a.entity for a in here.known} == {a.entity for a in there.known}
        truth = {answer.entity: answer for answer in there.predicted}
        shared = [answer for answer in here.predicted if answer.entity in truth]
        margin = 1e-3 if len(shared) == 10 else 0.05  # a probability looks at the other answers too
        for answer in shared:
            assert answer.score == pytest.approx(truth[answer.entity].score, abs=1e-5)
            assert answer.probability == pytest.approx(truth[answer.entity].probability, abs=margin)
        assert len(here.predicted) == len(there.predicted) == 10
        wanted, common = wanted + 10, common + len(shared)
        first += here.predicted[0].entity == there.predicted[0].entity
    assert common >= 0.95 * wanted
    assert first >= 0.95 * len(asked)


def test_such_an_engine_is_saved_opened_and_shown(hashed: Engine, tmp_path: Path) -> None:
    folder = hashed.save(tmp_path / "engine")
    opened = pathformer.load(folder)
    asked = instances(hashed, 1)["2p"][0]
    before, after = (engine.ask(asked, why=False) for engine in (hashed, opened))
    assert [a.entity for a in before] == [a.entity for a in after]
    assert [a.probability for a in before] == pytest.approx([a.probability for a in after], abs=1e-6)
    shown = CliRunner().invoke(app, ["index", str(folder)]).output
    assert shown.startswith(f"lsh over {hashed.index.rows:,} entities, by the inner product\n")
