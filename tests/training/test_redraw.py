"""Fresh queries: what a step sees depends on seed and step alone, and a captured update would find them in place."""

from __future__ import annotations

import itertools
from pathlib import Path
from threading import Event, Timer
from typing import Any

import numpy as np
import pytest
import torch
from support import training_toy as toy

from pathformer.kg.ragged import Ragged
from pathformer.query.structures import STRUCTURES, structure
from pathformer.querysets.queries import Queries
from pathformer.querysets.sampler import sample
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training import checkpoint
from pathformer.training.data import Drawer, TrainingSet
from pathformer.training.logs import LOG, read_log
from pathformer.training.loop import train
from pathformer.training.redraw import Redrawer
from pathformer.training.settings import Training


def queries(name: str, rows: list[list[int]], answers: list[list[int]]) -> Queries:
    return Queries(structure(name), np.array(rows, np.int32), Ragged.of(answers), Ragged.of([[] for _ in rows]))


FIRST = queries("1p", [[1, 2], [3, 4], [5, 6]], [[0], [1, 2, 3], [11]])  # five answers


def rows(data: TrainingSet) -> list[tuple[list[int], list[int]]]:
    bounds = data.bounds.tolist()
    found = [data.answers[first:last].tolist() for first, last in itertools.pairwise(bounds)]
    return list(zip(data.ids.view(-1, 2).tolist(), found, strict=True))


def test_other_queries_take_the_place_of_the_first_in_the_same_memory() -> None:
    data = TrainingSet.of([FIRST], 12, room=0.4)
    places = [tensor.data_ptr() for tensor in (data.ids, data.bounds, data.answers)]
    drawer = Drawer(data, {"1p": 20}, negatives=2)
    data.refill([queries("1p", [[7, 1], [8, 1], [9, 1]], [[4, 5], [6], [7, 8, 9, 10]])])
    assert rows(data) == [([7, 1], [4, 5]), ([8, 1], [6]), ([9, 1], [7, 8, 9, 10])]
    assert places == [tensor.data_ptr() for tensor in (data.ids, data.bounds, data.answers)]
    assert set(drawer.draw().ids.view(-1, 2)[:, 0].tolist()) == {7, 8, 9}


def test_fewer_are_repeated_and_those_with_most_answers_give_way() -> None:
    data = TrainingSet.of([FIRST], 12)
    data.refill([queries("1p", [[7, 1]], [[4]])])
    assert rows(data) == [([7, 1], [4])] * 3
    data.refill([queries("1p", [[7, 1], [8, 1], [9, 1]], [[4], [1, 2, 3, 4, 5], [7, 8, 9]])])  # nine, room for five
    assert rows(data) == [([7, 1], [4]), ([7, 1], [4]), ([9, 1], [7, 8, 9])]


def test_what_does_not_belong_is_refused() -> None:
    data = TrainingSet.of([FIRST], 12)
    with pytest.raises(ValueError, match="queries of 2p in the place of 1p"):
        data.refill([queries("2p", [[7, 1, 1]], [[4]])])
    with pytest.raises(ValueError, match="1 of 1 training queries of 1p have no answer"):
        data.refill([queries("1p", [[7, 1]], [[]])])
    with pytest.raises(ValueError, match="redraw_every must be at least 0, got -1"):
        Training(redraw_every=-1)


def test_the_set_of_a_step_is_in_place_and_the_next_under_way() -> None:
    data, drawn = TrainingSet.of([FIRST], 12, room=9.0), []

    def draw(number: int) -> list[Queries]:
        drawn.append(number)
        return [queries("1p", [[number, 0]], [[number]])]

    fresh = Redrawer(data, draw, every=3)
    seen = []
    for step in range(8):
        fresh.prepare(step)
        seen.append(int(data.ids[0]))
    fresh.close()
    assert seen == [1, 1, 1, 1, 1, 1, 2, 2]  # the first set's own first id is 1 too
    assert drawn[:2] == [1, 2]
    later = Redrawer(data, draw, every=3)
    later.prepare(13)  # a run that is continued
    later.close()
    assert int(data.ids[0]) == 4


def test_how_long_the_trainer_waits_is_counted_once() -> None:
    data, ready = TrainingSet.of([FIRST], 12, room=9.0), Event()

    def draw(number: int) -> list[Queries]:
        assert number > 1 or ready.wait(5.0)
        return [queries("1p", [[number, 0]], [[number]])]

    fresh = Redrawer(data, draw, every=3)
    fresh.prepare(2)
    assert fresh.take_waited() == 0.0  # the next set is under way, and nobody needs it yet
    Timer(0.05, ready.set).start()
    fresh.prepare(3)
    assert 0.01 < fresh.take_waited() < 5.0
    assert fresh.take_waited() == 0.0
    fresh.close()


def run(folder: Path, **settings: Any) -> bool:
    pair = GraphPair.of(toy.graphs()[0])

    def draw(number: int) -> list[Queries]:
        return [sample(STRUCTURES[name], pair, 60, stream=f"fresh {number}") for name in toy.STRUCTURE_NAMES]

    made = toy.task()
    data = TrainingSet.of(toy.training_queries(), toy.ENTITIES, room=0.25)
    task = type(made)(model=made.model, data=data, facts=made.facts, validate=made.validate, draw=draw)
    config = Training(steps=24, batch=16, validations=2, update_per_structure=False, **settings)
    return train(task, config, folder, toy.quiet()).finished


def test_a_run_that_was_cut_ends_with_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tmp_path / "whole", redraw_every=5)
    assert run(tmp_path / "fixed")
    cut = toy.interrupt(monkeypatch, {7, 16})
    while not run(tmp_path / "cut", redraw_every=5):
        pass
    assert not cut
    whole, fixed, again = (
        checkpoint.read(tmp_path / f / "last.safetensors").tensors for f in ("whole", "fixed", "cut")
    )
    assert all(torch.equal(whole[name], again[name]) for name in whole)
    waits = {
        name: ["seconds_waited" in line for line in read_log(tmp_path / name / LOG)] for name in ("whole", "fixed")
    }
    assert any(waits["whole"])
    assert not any(waits["fixed"])
    assert not torch.equal(whole["model.entities.weight"], fixed["model.entities.weight"])


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_a_seed_is_a_number_of_64_bits(seed: int) -> None:
    with pytest.raises(ValueError, match=r"^seed must be a whole number from 0, below 2\^64, got"):
        Training(seed=seed)
    assert Training(seed=(1 << 64) - 1).seed
