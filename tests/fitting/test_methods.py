"""Every method behind the engine: asked, searched, explained, saved and opened like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract_cases import CASES, make
from support.engines import engine_over

from pathformer.engine.engine import load
from pathformer.errors import UnsupportedQueryError
from pathformer.fitting.compare import measure_cost, sample_held_out
from pathformer.fitting.reindex import sample_query_points
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.models._contract import ENTITIES, RELATIONS
from pathformer.query.structures import STRUCTURES
from pathformer.symbolic.impossible import impossible_answers

SHOWN = ("1p", "2p", "ip", "2u", "up", "inp")
TESTED = [(name, variant) for name, variant in CASES if not variant or {"space", "union"} & variant.keys()]


@pytest.fixture(scope="module")
def kg() -> KnowledgeGraph:
    random = np.random.default_rng(0)
    bounds = ENTITIES, RELATIONS // 2, ENTITIES
    table = np.stack([random.integers(0, bound, 120) for bound in bounds], axis=1)
    triples = np.unique(table * np.array([1, 2, 1]), axis=0).astype(np.int32)
    names = Vocabulary.of([f"e{n}" for n in range(ENTITIES)], [f"r{n}" for n in range(RELATIONS // 2)])
    return KnowledgeGraph("methods", names, {"train": triples})


@pytest.mark.parametrize(("name", "variant"), TESTED, ids=str)
def test_a_method_answers(name: str, variant: dict[str, Any], kg: KnowledgeGraph, tmp_path: Path) -> None:
    model = make(name, variant)
    engine = engine_over(kg, model)
    taken = [structure for structure in (STRUCTURES[shown] for shown in SHOWN) if model.takes(structure)]
    rows = [np.random.default_rng(n).integers(0, RELATIONS, len(s.columns)).tolist() for n, s in enumerate(taken)]
    trees = [structure.tree(row) for structure, row in zip(taken, rows, strict=True)]
    assert trees
    for tree, found in zip(trees, engine.candidates(trees, top=5), strict=True):
        points = engine.encoder.points([tree]).rows
        everyone = engine.encoder.distances(points).min(axis=0)
        assert found.distances == pytest.approx(everyone[found.entities], rel=1e-4, abs=1e-4)
        open_ = np.delete(everyone, np.union1d(found.entities[found.known], impossible_answers(tree, kg.graph())))
        assert found.distances[found.predicted] == pytest.approx(np.sort(open_)[:5], rel=1e-4, abs=1e-4)
    instances = [structure.instance(row) for structure, row in zip(taken, rows, strict=True)]
    answers = engine.ask(instances, top=3)
    assert all(answer.reason is not None and answer.reason.links for one in answers for answer in one)
    opened = load(engine.save(tmp_path / "engine"))
    assert [[a.entity for a in one] for one in opened.ask(instances, top=3)] == [
        [a.entity for a in one] for one in answers
    ]


def test_a_negation_that_a_method_cannot_take_is_refused_by_name(kg: KnowledgeGraph) -> None:
    model = make("gqe", {})
    engine = engine_over(kg, model)
    with pytest.raises(UnsupportedQueryError, match=r"gqe cannot take a negation .*methods that can: .*pathformer"):
        engine.ask("?x : r0(e0, ?x) & !r1(e1, ?x)")


@pytest.mark.parametrize(
    ("name", "negation", "paths"), [("mlp", True, True), ("gqe", False, True), ("complex", False, False)]
)
def test_an_index_and_a_release_are_measured_by_what_a_method_takes(
    name: str, negation: bool, paths: bool, kg: KnowledgeGraph
) -> None:
    model, parts = make(name, {}), kg.split(0.1, 0.1)
    engine = engine_over(parts, model)
    assert len(sample_query_points(parts, engine.encoder, count=3)) == 3 * (1 + 4 * paths + negation)
    held = sample_held_out(engine, 5)
    assert {"1p": "1p" in held, "2p": "2p" in held, "2in": "2in" in held} == {"1p": True, "2p": paths, "2in": negation}
    assert set(measure_cost(engine, engine, held).full) == set(held)
