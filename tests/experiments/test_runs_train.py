"""The settings of every run file train: an update of a small model with the run's objective, shares and rates."""

from __future__ import annotations

import dataclasses
import math

import pytest
from _made_up import made_up
from support import training_toy as toy

from pathformer.experiments.settings import read_run, run_names
from pathformer.models._base import build
from pathformer.training.data import TrainingSet
from pathformer.training.rounds import Rounds

ENTITIES, RELATIONS = 40, 6


def kinds() -> list[str]:
    """One run of each kind: the graph changes numbers, not what is trained how."""
    found: dict[tuple[object, ...], str] = {}
    for name in run_names():
        run = read_run(name)
        if run.paper.tables:
            model = run.model_settings
            found.setdefault((run.method, run.trained, model.get("space"), model.get("logic")), name)
    return list(found.values())


@pytest.fixture(scope="module")
def data() -> dict[str, TrainingSet]:
    names = {name: read_run(f"fb15k-237-{name}").trained_structures for name in ("epfo", "efol")}
    return {name: made_up(structures, ENTITIES, RELATIONS, 30, "cpu") for name, structures in names.items()}


def test_the_kinds_are_there() -> None:
    assert len(kinds()) == 22


@pytest.mark.parametrize("name", kinds())
def test_a_run_makes_an_update(name: str, data: dict[str, TrainingSet]) -> None:
    run = read_run(name, ["training.batch=20"])
    model = build(run.method, toy.tiny(run.model_settings), entities=ENTITIES, relations=RELATIONS)
    update = dataclasses.replace(run.training.update, negatives=4)
    step = Rounds(
        model,
        data[run.trained],
        run.training.composition(run.trained_structures),
        update,
        run.training.update_per_structure,
    )
    step.run()
    losses = step.losses()
    assert set(losses.mean) == set(run.trained_structures)
    assert all(math.isfinite(value) and value > 0 for value in losses.mean.values()), losses.mean
    assert not losses.diverged
