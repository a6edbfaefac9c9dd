"""Every method is trained by the one loop and ranked by the one evaluator."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support import training_toy as toy
from support.contract_cases import CASES, IDS, SMALL

from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.models._base import Model, build
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.querysets.sampler import sample
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep

TRAINED = [case for case in CASES if case[1].keys() <= {"union", "space", "layers", "margin", "logic", "regularizer"}]
NAMES = [IDS[CASES.index(case)] for case in TRAINED]
every_method = pytest.mark.parametrize(("name", "variant"), TRAINED, ids=NAMES)


def make(name: str, variant: dict[str, Any]) -> Model:
    torch.manual_seed(0)
    return build(name, {**SMALL[name], **variant}, entities=toy.ENTITIES, relations=toy.RELATIONS)


@pytest.fixture(scope="module")
def data() -> TrainingSet:
    """A longer path than the toy's own, so that every operator is met from an anchor and from a variable."""
    pair = GraphPair.of(toy.graphs()[0])
    return TrainingSet.of([sample(STRUCTURES[name], pair, 40) for name in ("1p", "2p", "2i", "2in")], toy.ENTITIES)


@pytest.fixture(scope="module")
def valid() -> dict[str, Queries]:
    return toy.valid_queries()


def test_every_method_is_trained_here() -> None:
    assert {name for name, _ in TRAINED} == set(SMALL)


@every_method
def test_a_few_updates_bring_the_loss_down_and_every_weight_moves(
    data: TrainingSet, name: str, variant: dict[str, Any]
) -> None:
    made = make(name, variant)
    before = {name: weight.detach().clone() for name, weight in made.named_parameters()}
    structures = [s.name for s in data.structures if made.takes(s)]
    step = TrainingStep(made, data, dict.fromkeys(structures, 16), StepConfig(negatives=16, rate=1e-2))
    early, late = toy.early_and_late(step, 34)
    assert set(early.mean) == set(structures)
    assert not late.diverged
    assert sum(late.mean.values()) < 0.95 * sum(early.mean.values())
    assert [name for name, weight in made.named_parameters() if torch.equal(weight, before[name])] == []


@every_method
def test_it_ranks(valid: dict[str, Queries], name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    asked = {name: part for name, part in valid.items() if made.takes(part.structure)}
    report = evaluate(ModelRanker(made), asked)
    assert set(report.scores) == set(asked)
    assert all(0.0 < score.mrr < 1.0 for score in report.scores.values())
    made.train()
    again = evaluate(ModelRanker(made, memory=1), asked)  # query by query, and dropout stays off
    assert made.training
    for structure, score in report.scores.items():
        assert again.scores[structure].mrr == pytest.approx(score.mrr, rel=1e-4)
