"""Every objective against loops over one batch, and each of them learns."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import pytest
import torch
from _made_up import made_up
from support import training_toy as toy

from pathformer import plugins
from pathformer.errors import ConfigError, UnknownPluginError
from pathformer.models.pathformer import Config, Pathformer
from pathformer.training.data import Drawn, TrainingSet
from pathformer.training.settings import SoftmaxOptions, StepConfig
from pathformer.training.step import TrainingStep

ENTITIES = 40
COMPOSITION = {"1p": 6, "2i": 4, "inp": 4}
ALL = SoftmaxOptions(targets=5, smoothing=0.1)


@pytest.fixture(scope="module")
def data() -> TrainingSet:
    return made_up(tuple(COMPOSITION), ENTITIES, 6, 30, "cpu")


def trainer(data: TrainingSet, objective: str, space: str = "point", **settings: Any) -> TrainingStep:
    torch.manual_seed(0)
    model = Pathformer(Config(dim=16, layers=1, heads=2, dropout=0.0, space=space), ENTITIES, 6)  # type: ignore[arg-type]
    step = StepConfig(objective=objective, rate=3e-3, negatives=7, weighted=False, **settings)
    return TrainingStep(model, data, COMPOSITION, step)


def every_distance(made: TrainingStep, drawn: Drawn) -> list[list[float]]:
    points = made.network.encode(made.batch, drawn.ids)
    table = made.network.entities.weight
    return [[made.network.space.distance(point, row).item() for row in table] for point in points]


def test_the_folder_holds_these() -> None:
    assert set(plugins.names("objectives")) >= {"margin", "softmax", "bpr"}
    assert Pathformer.objective == "margin"


def test_a_method_has_an_objective_of_its_own_unless_a_run_says(data: TrainingSet) -> None:
    assert type(trainer(data, "").objective).__name__ == "Margin"
    assert type(trainer(data, "bpr").objective).__name__ == "BPR"
    with pytest.raises(UnknownPluginError, match="sofmax"):
        trainer(data, "sofmax")


def test_bpr_compares_an_answer_with_each_drawn_non_answer(data: TrainingSet) -> None:
    made = trainer(data, "bpr")
    drawn = made.drawer.draw()
    losses = made.objective.losses(made.network, made.batch, drawn)
    for row, (distances, ids) in enumerate(zip(every_distance(made, drawn), drawn.candidates.tolist(), strict=True)):
        first, *others = (distances[i] for i in ids)
        loop = sum(math.log1p(math.exp(first - other)) for other in others) / 7
        assert losses[row].item() == pytest.approx(loop, rel=1e-4)


@pytest.mark.parametrize("space", ["point", "sphere"])
def test_softmax_over_all_entities(data: TrainingSet, space: str) -> None:
    made = trainer(data, "softmax", space, softmax=ALL)
    drawn = made.drawer.draw()
    assert drawn.targets is not None
    assert drawn.shares is not None
    assert drawn.candidates.shape == (14, 1)
    losses = made.objective.losses(made.network, made.batch, drawn)
    for row, distances in enumerate(every_distance(made, drawn)):
        whole = math.log(sum(math.exp(-d) for d in distances))
        likely = [-d - whole for d in distances]
        wanted = sum(
            s * likely[t] for t, s in zip(drawn.targets[row].tolist(), drawn.shares[row].tolist(), strict=True)
        )
        loop = -0.9 * wanted - 0.1 * sum(likely) / ENTITIES
        assert losses[row].item() == pytest.approx(loop, rel=1e-4)


def test_softmax_over_drawn_entities_lets_them_stand_for_all(data: TrainingSet) -> None:
    made = trainer(data, "softmax", softmax=SoftmaxOptions(entities="drawn"))
    drawn = made.drawer.draw()
    losses = made.objective.losses(made.network, made.batch, drawn)
    for row, (distances, ids) in enumerate(zip(every_distance(made, drawn), drawn.candidates.tolist(), strict=True)):
        first, *others = (math.exp(-distances[i]) for i in ids)
        assert losses[row].item() == pytest.approx(-math.log(first / (first + 39 / 7 * sum(others))), rel=1e-4)


@pytest.mark.parametrize("entities", ["all", "drawn"])
def test_cubes_and_relations_of_complex_rows_are_added(data: TrainingSet, entities: Literal["all", "drawn"]) -> None:
    plain = trainer(data, "softmax", "hermitian", softmax=SoftmaxOptions(entities=entities))
    made = trainer(data, "softmax", "hermitian", softmax=SoftmaxOptions(entities=entities, n3=0.3, relation=0.7))
    drawn = made.drawer.draw()
    more = made.objective.losses(made.network, made.batch, drawn) - plain.objective.losses(
        plain.network, plain.batch, drawn
    )
    table, operators = made.network.entities.weight, made.network.operators.weight  # type: ignore[union-attr]
    letters = [letter for block in made.drawer.layout.blocks for letter in block.structure.columns * block.count]
    rows = [table[a] for a in drawn.candidates[:, 0].tolist()]
    rows += [(table if letter == "e" else operators)[i] for letter, i in zip(letters, drawn.ids.tolist(), strict=True)]
    cubes = sum(abs(complex(a, b)) ** 3 for row in rows for a, b in zip(*row.view(2, -1).tolist(), strict=True)) / 14
    for query, found in enumerate(more.tolist()):
        joined = 0.0
        if query < 6:  # of the structure 1p
            head, relation = drawn.ids[2 * query : 2 * query + 2].tolist()
            ends = [torch.complex(*table[i].view(2, -1)) for i in (head, int(drawn.candidates[query, 0]))]
            links = [torch.complex(*row.view(2, -1)) for row in operators[:6]]
            scores = [(ends[0] * link * ends[1].conj()).sum().real.item() for link in links]
            joined = math.log(sum(map(math.exp, scores))) - scores[relation]
        assert found == pytest.approx(0.3 * cubes + 0.7 * joined, rel=1e-3)


@pytest.mark.parametrize("entities", ["all", "drawn"])
def test_cubes_and_relations_are_of_complex_rows(data: TrainingSet, entities: Literal["all", "drawn"]) -> None:
    made = trainer(data, "softmax", "sphere", softmax=SoftmaxOptions(n3=0.1, entities=entities))
    with pytest.raises(ConfigError, match=r"are of complex numbers: space 'hermitian', not that of pathformer"):
        made.run(1)


@pytest.mark.parametrize("objective", ["margin", "softmax", "bpr"])
@pytest.mark.parametrize("space", ["point", "sphere"])
def test_each_learns(data: TrainingSet, objective: str, space: str) -> None:
    early, late = toy.early_and_late(trainer(data, objective, space), 60)
    assert not late.diverged
    assert sum(late.mean.values()) < 0.8 * sum(early.mean.values())


def test_targets_are_the_answers_each_as_often(data: TrainingSet) -> None:
    torch.manual_seed(0)
    made = trainer(data, "softmax", softmax=SoftmaxOptions(targets=3))
    rows = data.ids.tolist()
    known = {}
    for number, (first, last) in enumerate(zip(data.bounds[:30].tolist(), data.bounds[1:31].tolist(), strict=True)):
        known.setdefault((rows[2 * number], rows[2 * number + 1]), []).append(set(data.answers[first:last].tolist()))
    for _ in range(20):
        drawn = made.drawer.draw()
        assert drawn.targets is not None
        assert drawn.shares is not None
        for row in range(6):
            count = int(drawn.answers[row])
            shares = drawn.shares[row].tolist()
            assert shares == pytest.approx([1 / min(3, count)] * min(3, count) + [0.0] * max(0, 3 - count))
            chosen = drawn.targets[row, : min(3, count)].tolist()
            assert len(set(chosen)) == len(chosen)
            query = tuple(drawn.ids[2 * row : 2 * row + 2].tolist())
            assert any(set(chosen) <= answers and len(answers) == count for answers in known[query])


def test_settings_that_leave_nothing_to_learn_are_refused() -> None:
    with pytest.raises(ValueError, match="targets must be at least 1, got 0"):
        SoftmaxOptions(targets=0)
    with pytest.raises(ValueError, match=r"smoothing must be at least 0 and below 1"):
        SoftmaxOptions(smoothing=1.0)
    with pytest.raises(ValueError, match="n3 must be at least 0"):
        SoftmaxOptions(n3=-0.1)


@pytest.mark.parametrize("space", ["point", "sphere"])
def test_what_a_negation_takes_away_counts_more_in_the_sum(data: TrainingSet, space: str) -> None:
    table = torch.tensor([[-1, -1, -1], *[[1, 5, -1]] * 30], dtype=torch.int32)  # for the 30 queries of inp
    data = replace(data, removed=table)
    made = trainer(data, "softmax", space, softmax=SoftmaxOptions(targets=5, removed=3, removed_weight=4.0))
    drawn = made.drawer.draw()
    assert drawn.targets is not None
    assert drawn.shares is not None
    losses = made.objective.losses(made.network, made.batch, drawn)
    for row, distances in enumerate(every_distance(made, drawn)):
        often = [5.0 if row >= 10 and entity in (1, 5) else 1.0 for entity in range(ENTITIES)]  # inp is the last block
        whole = math.log(sum(n * math.exp(-d) for n, d in zip(often, distances, strict=True)))
        wanted = sum(
            s * -distances[t] for t, s in zip(drawn.targets[row].tolist(), drawn.shares[row].tolist(), strict=True)
        )
        assert losses[row].item() == pytest.approx(whole - wanted, rel=1e-4)


def test_removed_entities_need_all_of_them() -> None:
    with pytest.raises(ValueError, match='needs entities = "all"'):
        SoftmaxOptions(removed=3, entities="drawn")
    with pytest.raises(ValueError, match="removed"):
        SoftmaxOptions(removed=-1)
