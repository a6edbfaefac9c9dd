"""ComplEx against complex arithmetic, its objective against loops, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from _made_up import made_up
from torch import Tensor

from pathformer.errors import ConfigError, UnsupportedQueryError
from pathformer.models._base import build
from pathformer.models._batch import Batch
from pathformer.models.complex import ComplEx, Config
from pathformer.plan.build import build_plan
from pathformer.query.structures import STRUCTURES
from pathformer.training.settings import SoftmaxOptions, StepConfig
from pathformer.training.step import TrainingStep

ENTITIES, RELATIONS, RANK = 12, 4, 5


def model() -> ComplEx:
    torch.manual_seed(0)
    return ComplEx(Config(rank=RANK, n3=0.3, relation=0.7), ENTITIES, RELATIONS)


def numbers(rows: Tensor) -> list[list[complex]]:
    return [[complex(a, b) for a, b in zip(row[:RANK], row[RANK:], strict=True)] for row in rows.tolist()]


def score(made: ComplEx, head: int, relation: int, tail: int) -> float:
    h, t = (numbers(made.entities.weight)[i] for i in (head, tail))
    r = numbers(made.operators.weight)[relation]
    return sum((a * b * c.conjugate()).real for a, b, c in zip(h, r, t, strict=True))


def test_distances_are_minus_the_scores_of_links_and_unions_take_the_best() -> None:
    made = model()
    plan = build_plan([(STRUCTURES["1p"], np.array([[5, 1], [3, 2]])), (STRUCTURES["2u"], np.array([[1, 3, 7, 0]]))])
    every = torch.arange(ENTITIES).repeat(3, 1)
    found = made.distances(Batch.of(plan.layout), torch.from_numpy(plan.ids), every)
    for tail in range(ENTITIES):
        assert found[0, tail].item() == pytest.approx(-score(made, 5, 1, tail), abs=1e-6)
        assert found[1, tail].item() == pytest.approx(-score(made, 3, 2, tail), abs=1e-6)
        best = max(score(made, 1, 3, tail), score(made, 7, 0, tail))
        assert found[2, tail].item() == pytest.approx(-best, abs=1e-6)


def test_what_is_more_than_a_link_is_refused_by_name() -> None:
    made = model()
    parts = [(STRUCTURES[name], np.zeros((1, k), np.int32)) for name, k in (("1p", 2), ("2p", 3), ("2i", 4))]
    plan = build_plan(parts)
    refusal = r"complex cannot take more than one link \(in 2i, 2p\); methods that can: .*pathformer"
    with pytest.raises(UnsupportedQueryError, match=refusal):
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    negated = build_plan([(STRUCTURES["2in"], np.zeros((1, 4), np.int32))])
    with pytest.raises(UnsupportedQueryError, match=r"complex cannot take a negation \(in 2in\)"):
        made.encode(Batch.of(negated.layout), torch.from_numpy(negated.ids))


def test_its_objective_as_loops() -> None:
    made, data = model(), made_up(("1p",), ENTITIES, RELATIONS, 40, "cpu")
    step = StepConfig(softmax=SoftmaxOptions(targets=3, smoothing=0.2), weighted=False)
    trainer = TrainingStep(made, data, {"1p": 6}, step)
    drawn = trainer.drawer.draw()
    assert drawn.targets is not None
    assert drawn.shares is not None
    losses = trainer.objective.losses(trainer.network, trainer.batch, drawn)

    def log_share(scores: list[float], place: int) -> float:
        return scores[place] - math.log(sum(math.exp(s) for s in scores))

    def smoothed(scores: list[float], wanted: dict[int, float]) -> float:
        right = sum(share * log_share(scores, place) for place, share in wanted.items())
        return -0.8 * right - 0.2 * sum(log_share(scores, place) for place in range(len(scores))) / len(scores)

    for row, (head, relation) in enumerate(drawn.ids.view(-1, 2).tolist()):
        tail = int(drawn.candidates[row, 0])
        wanted: dict[int, float] = {}
        for place, share in zip(drawn.targets[row].tolist(), drawn.shares[row].tolist(), strict=True):
            wanted[place] = wanted.get(place, 0.0) + share
        tails = smoothed([score(made, head, relation, e) for e in range(ENTITIES)], wanted)
        joins = smoothed([score(made, head, r, tail) for r in range(RELATIONS)], {relation: 1.0})
        rows = [numbers(made.entities.weight)[i] for i in (head, tail)] + [numbers(made.operators.weight)[relation]]
        n3 = sum(abs(x) ** 3 for vector in rows for x in vector)
        assert losses[row].item() == pytest.approx(tails + 0.7 * joins + 0.3 * n3, rel=1e-4)


def test_it_learns_links() -> None:
    made = build("complex", {"rank": 8, "n3": 0.0}, entities=ENTITIES, relations=RELATIONS)
    data = made_up(("1p",), ENTITIES, RELATIONS, 30, "cpu")
    trainer = TrainingStep(made, data, {"1p": 30}, StepConfig(rate=3e-2))
    trainer.run(5)
    early = trainer.losses().mean["1p"]
    trainer.run(80)
    trainer.losses()
    trainer.run(5)
    assert trainer.losses().mean["1p"] < 0.6 * early


def test_no_other_method_is_trained_by_links() -> None:
    made = build("pathformer", {"dim": 16, "layers": 1, "heads": 2}, entities=ENTITIES, relations=RELATIONS)
    data = made_up(("1p",), ENTITIES, RELATIONS, 30, "cpu")
    trainer = TrainingStep(made, data, {"1p": 4}, StepConfig(objective="links"))
    with pytest.raises(ConfigError, match="'links' is complex's own; pathformer can be trained by softmax"):
        trainer.run(1)


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="rank must be at least 1"):
        Config(rank=0)
    with pytest.raises(ValueError, match="n3 must be at least 0"):
        Config(n3=-1.0)
