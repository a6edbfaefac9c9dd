"""Negation by probability: the formula against a loop, and what a ranking makes of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from pathformer.errors import ConfigError
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.exclude import exclude
from pathformer.evaluation.filters import reference_filter
from pathformer.models import Batch, Model, build
from pathformer.plan import build_plan
from pathformer.query.structures import STRUCTURES
from pathformer.symbolic.queries import Queries, Ragged

ENTITIES, RELATIONS = 12, 4


def test_it_is_the_loop() -> None:
    torch.manual_seed(0)
    distances, denied = 3 * torch.rand(2, 6), 8 * torch.rand(2, 6)
    found = exclude(distances, denied, 5.0)
    for row in range(2):
        weights = [math.exp(-d) for d in denied[row].tolist()]
        chances = [weight / sum(weights) for weight in weights]
        spread = 1.0 / sum(chance**2 for chance in chances)
        for entity, chance in enumerate(chances):
            wanted = distances[row, entity].item() + math.log(1.0 + (5.0 * spread * chance) ** 2)
            assert found[row, entity].item() == pytest.approx(wanted, rel=1e-5)


def test_what_a_branch_holds_loses_and_the_rest_hardly() -> None:
    held = torch.tensor([[0.0, 0.0, 50.0, 50.0]])
    found = exclude(torch.zeros(1, 4), held, 10.0)
    assert found[0, :2].tolist() == pytest.approx([math.log(101.0)] * 2)
    assert found[0, 2:].abs().max().item() < 1e-6


@pytest.fixture
def model() -> Model:
    torch.manual_seed(0)
    settings = {"dim": 16, "layers": 1, "heads": 2, "dropout": 0.0, "space": "sphere"}
    return build("pathformer", settings, entities=ENTITIES, relations=RELATIONS)


def asked(name: str) -> Queries:
    rng = np.random.default_rng(0)
    shape = STRUCTURES[name]
    highs = [ENTITIES if letter == "e" else RELATIONS for letter in shape.columns]
    ids = np.stack([rng.integers(high, size=7) for high in highs], axis=1).astype(np.int32)
    return Queries(shape, ids, Ragged.of([[1]] * 7), Ragged.of([[0, 5]] * 7))


def all_distances(model: Model, name: str, ids: np.ndarray) -> torch.Tensor:
    plan = build_plan([(STRUCTURES[name], ids)])
    with model.at_rest(), torch.no_grad():
        points = model.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
        return model.space.distance_to_all(points, model.entities.weight)


@pytest.mark.parametrize(
    ("name", "branch", "columns"), [("2in", "1p", [2, 3]), ("3in", "1p", [4, 5]), ("pni", "2p", [0, 1, 2])]
)
@pytest.mark.parametrize("memory", [None, 4 * ENTITIES * 4])  # all at once, and two queries at a time
def test_a_ranker_takes_the_negated_branch_as_a_query(
    model: Model, name: str, branch: str, columns: list[int], memory: int | None
) -> None:
    queries, ranker = asked(name), ModelRanker(model, memory)
    before = ranker.rank(queries, queries.hard, reference_filter(queries)).closer
    model.exclude = 100.0
    found = ranker.rank(queries, queries.hard, reference_filter(queries)).closer
    whole = exclude(
        all_distances(model, name, queries.ids), all_distances(model, branch, queries.ids[:, columns]), 100.0
    )
    loop = [
        sum(row[e] < row[target] for e in range(ENTITIES) if e not in (0, 1, 5))
        for row in whole.tolist()
        for target in (0, 5)
    ]
    assert found.tolist() == loop
    assert found.tolist() != before.tolist()


@pytest.mark.parametrize("name", ["2i", "inp", "2u"])
def test_queries_without_a_negated_branch_at_the_end_rank_as_before(model: Model, name: str) -> None:
    before = evaluate(ModelRanker(model), {name: asked(name)}).mrr
    model.exclude = 100.0
    assert evaluate(ModelRanker(model), {name: asked(name)}).mrr == before


def test_it_is_a_setting() -> None:
    settings = {"dim": 16, "layers": 1, "heads": 2}
    assert build("pathformer", settings, entities=4, relations=2).exclude == 0.0
    assert build("pathformer", {**settings, "exclude": 3.0}, entities=4, relations=2).exclude == 3.0
    with pytest.raises(ConfigError, match=r"exclude -1.0 is a strength: 0 or more"):
        build("pathformer", {**settings, "exclude": -1.0}, entities=4, relations=2)
