"""The update on the processor: it learns, it repeats, it resumes, it tells when it diverges."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Literal

import pytest
import torch
from _made_up import made_up
from support import training_toy as toy

from pathformer.errors import UnsupportedQueryError
from pathformer.models.composed import Composed
from pathformer.models.composed import Config as ComposedConfig
from pathformer.models.pathformer import Config, Pathformer
from pathformer.training.data import TrainingSet
from pathformer.training.objectives._base import margin_loss, query_weights
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep

STRUCTURES = ("1p", "2i", "inp")
COMPOSITION = {"1p": 8, "2i": 4, "inp": 4}
CONFIG = Config(dim=16, layers=1, heads=2)


@pytest.fixture(scope="module")
def data() -> TrainingSet:
    return made_up(STRUCTURES, 40, 6, 30, "cpu")


def trainer(
    data: TrainingSet, step: StepConfig | None = None, config: Config | ComposedConfig = CONFIG
) -> TrainingStep:
    torch.manual_seed(0)
    method = Pathformer if isinstance(config, Config) else Composed
    return TrainingStep(method(config, 40, 6), data, COMPOSITION, step or StepConfig(negatives=8, rate=3e-3))


def weights(made: TrainingStep) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in made.model.state_dict().items()}


def test_it_learns(data: TrainingSet) -> None:
    made = trainer(data)
    early, late = toy.early_and_late(made, 150, last=20)
    assert (early.updates, late.updates) == (5, 20)
    assert set(late.mean) == set(STRUCTURES)
    assert sum(late.mean.values()) < 0.8 * sum(early.mean.values())
    assert not late.diverged
    assert made.updates == 175
    assert made.queries == 16


def test_the_same_seed_gives_the_same_weights(data: TrainingSet) -> None:
    one, two = trainer(data), trainer(data)
    torch.manual_seed(5)
    one.run(4)
    torch.manual_seed(5)
    two.run(4)
    assert all(torch.equal(a, b) for a, b in zip(weights(one).values(), weights(two).values(), strict=True))


@pytest.mark.parametrize(("table_rate", "precision"), [(1.0, "fp32"), (0.0, "fp32"), (0.0, "bf16")])
def test_a_resumed_run_is_the_uninterrupted_one_bit_for_bit(
    data: TrainingSet, table_rate: float, precision: str
) -> None:
    step = StepConfig(negatives=8, rate=3e-3, table_rate=table_rate, precision=precision)  # type: ignore[arg-type]
    whole = trainer(data, step)
    with torch.no_grad():
        whole.model.entities.weight.mul_(1.5)  # others than those that the second one is made with
    whole.adam.refresh()
    torch.manual_seed(5)
    whole.run(4)
    kept, state = weights(whole), {name: tensor.clone() for name, tensor in whole.state().items()}
    assert ("first.entities.weight" in state) == (table_rate > 0)
    chance = torch.get_rng_state()
    whole.run(3)
    second = trainer(data, step)
    second.model.load_state_dict(kept)
    second.load(state, 4)
    torch.set_rng_state(chance)
    second.run(3)
    assert second.updates == 7
    assert all(torch.equal(a, b) for a, b in zip(weights(whole).values(), weights(second).values(), strict=True))


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("average", ["structure", "batch"])
def test_the_loss_of_a_batch(data: TrainingSet, weighted: bool, average: str) -> None:
    step = StepConfig(negatives=8, weighted=weighted, average_over=average)  # type: ignore[arg-type]
    made = trainer(data, step, Config(dim=16, layers=1, heads=2, dropout=0.0))
    drawn = made.drawer.draw()
    distances = made.network.distances(made.batch, drawn.ids, drawn.candidates)
    losses = margin_loss(distances[:, 0], distances[:, 1:], 24.0).tolist()
    factors = query_weights(drawn.answers).tolist() if weighted else [1.0] * 16
    blocks = [range(8), range(8, 12), range(12, 16)] if average == "structure" else [range(16)]
    means = [sum(losses[q] * factors[q] for q in b) / sum(factors[q] for q in b) / 2 for b in blocks]
    assert made.loss(drawn).mean().item() == pytest.approx(sum(means) / len(means), rel=1e-5)


def test_a_loss_that_is_not_finite_names_update_and_structure(data: TrainingSet) -> None:
    made = trainer(data)
    made.run(2)
    assert not made.losses().diverged
    with torch.no_grad():
        made.model.forks.pair.mlp.linears[0].bias.fill_(torch.nan)  # only forks are spoilt, for one update
    made.run(1)
    assert set(made.losses().diverged) == {"2i", "inp"}
    assert set(made.losses().diverged.values()) == {3}


@pytest.mark.parametrize("learned", [True, False])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("objective", ["margin", "softmax"])
def test_a_temperature_is_learned_or_kept(
    data: TrainingSet, objective: str, precision: Literal["fp32", "bf16"], learned: bool
) -> None:
    config = replace(CONFIG, space="sphere", space_settings={"temperature": 0.1, "learn_temperature": learned})
    step = StepConfig(objective=objective, negatives=8, rate=3e-3, weight_decay=0.1, precision=precision, ema=0.5)
    made = trainer(data, step, config)
    before = weights(made)
    made.run(4)
    after = weights(made)
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert ("space.log_scale" in moved) is learned
    assert "entities.weight" in moved
    assert before["space.log_scale"].item() == pytest.approx(math.log(10.0))  # fp32, whatever the precision
    assert before["space.log_scale"].dtype == after["space.log_scale"].dtype == torch.float32
    working, rounded = made.network.get_parameter("space.log_scale"), after["space.log_scale"].to(torch.bfloat16)
    assert torch.equal(working.detach(), rounded if precision == "bf16" else after["space.log_scale"])
    assert ("first.space.log_scale" in made.state()) is learned
    assert made.average is not None
    assert torch.equal(made.average.state()["space.log_scale"], before["space.log_scale"]) is not learned


def test_bfloat16_keeps_float32_masters(data: TrainingSet) -> None:
    made = trainer(data, StepConfig(negatives=8, precision="bf16", rate=3e-3))
    before = weights(made)
    made.run(3)
    assert {weight.dtype for weight in made.network.parameters()} == {torch.bfloat16}
    assert {weight.dtype for weight in made.model.parameters()} == {torch.float32}
    assert not torch.equal(before["entities.weight"], made.model.entities.weight)
    exact = trainer(data, StepConfig(negatives=8, precision="fp32", rate=3e-3))
    drawn = made.drawer.draw()
    made.network.eval()
    exact.model.load_state_dict(made.model.state_dict())
    exact.model.eval()
    assert made.loss(drawn).tolist() == pytest.approx(exact.loss(drawn).tolist(), rel=5e-2)


def test_tables_have_their_own_rate(data: TrainingSet) -> None:
    made = trainer(data, StepConfig(negatives=8, table_rate=0.0))
    before = weights(made)
    made.run(2)
    after = weights(made)
    still = {name for name in before if torch.equal(before[name], after[name])}
    assert still == {"entities.weight", "operators.weight"}


@pytest.mark.parametrize("objective", ["margin", "softmax"])
def test_tables_that_are_kept_cost_no_gradient_and_change_nothing_else(data: TrainingSet, objective: str) -> None:
    config = ComposedConfig(dim=16, heads=2, fork="network", domains=False)
    kept, slow = (
        trainer(data, StepConfig(objective=objective, negatives=8, rate=1e-3, table_rate=rate), config)
        for rate in (0.0, 1e-30)
    )
    for made in (kept, slow):
        torch.manual_seed(1)
        made.run(3)
    assert kept.network.entities.weight.grad is None
    assert slow.network.entities.weight.grad is not None
    found, expected = weights(kept), weights(slow)
    assert torch.equal(found["entities.weight"], trainer(data, config=config).model.entities.weight)
    for name, weight in expected.items():
        torch.testing.assert_close(found[name], weight, rtol=1e-5, atol=1e-7)


def test_domains_have_a_rate_of_their_own(data: TrainingSet) -> None:
    config = ComposedConfig(dim=16, heads=2)
    for domain_rate in (0.5, 0.0):
        step = StepConfig(objective="softmax", rate=1e-3, table_rate=0.0, domain_rate=domain_rate)
        made = trainer(data, step, config)
        before = weights(made)
        made.run(2)
        for name in ("entities.weight", "operators.weight"):
            assert torch.equal(before[name], weights(made)[name])
        moved = not torch.equal(before["domains.weight"], weights(made)["domains.weight"])
        assert moved == (domain_rate > 0)


def test_rows_that_are_to_move_do_and_nothing_else(data: TrainingSet) -> None:
    torch.manual_seed(0)
    model = Pathformer(CONFIG, 40, 6)
    before = copy.deepcopy(model.state_dict())
    rates = torch.zeros(40, 1)
    rates[[3, 39]] = 1.0
    step = StepConfig(negatives=8, rate=3e-3, weight_decay=0.1)
    made = TrainingStep(model, data, COMPOSITION, step, row_rates={"entities.weight": rates})
    assert [slot.name for slot in made.adam.slots] == ["entities.weight"]
    made.run(3)
    after = model.state_dict()
    assert (after["entities.weight"] != before["entities.weight"]).any(dim=1).nonzero().flatten().tolist() == [3, 39]
    assert all(torch.equal(before[name], weight) for name, weight in after.items() if name != "entities.weight")


def test_an_update_of_links_that_are_their_product_leaves_kept_tables_alone(data: TrainingSet) -> None:
    torch.manual_seed(0)
    model = Composed(ComposedConfig(dim=16, heads=2), 40, 6)
    before = copy.deepcopy(model.state_dict())
    made = TrainingStep(model, data, {"1p": 4}, StepConfig(objective="softmax", table_rate=0.0))
    made.run(2)
    assert made.losses().mean["1p"] > 0
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())


def test_matrices_decay_and_tables_gains_and_biases_do_not(data: TrainingSet) -> None:
    made = trainer(data, StepConfig(negatives=8, weight_decay=0.1))
    decays = {slot.name: slot.decay for slot in made.adam.slots}
    assert {decays[name] for name in ("entities.weight", "operators.weight", "paths.final.weight")} == {0.0}
    assert decays["paths.layers.0.expand.weight"] == 0.1
    assert decays["paths.layers.0.expand.bias"] == 0.0


def test_a_model_that_cannot_take_a_structure_refuses_it(data: TrainingSet) -> None:
    class Positive(Pathformer):
        name = "positive"
        negation = False

    with pytest.raises(UnsupportedQueryError, match=r"positive cannot take a negation \(in inp\)"):
        TrainingStep(Positive(CONFIG, 40, 6), data, COMPOSITION, StepConfig())


def test_made_up_queries_have_hubs_and_whole_answers() -> None:
    made = made_up(("1p", "3p"), 500, 10, 300, "cpu")
    assert (made.counts, made.entities) == ((300, 300), 500)
    counts = made.bounds.diff()
    assert counts.min() >= 1
    assert counts[300:].float().mean() > 3 * counts[:300].float().mean()
    for first, last in zip(made.bounds[:-1].tolist(), made.bounds[1:].tolist(), strict=True):
        row = made.answers[first:last]
        assert (row.diff() > 0).all()
    uses = made.answers.bincount(minlength=500).sort().values
    assert uses[-1] > 10 * uses.float().median()


def test_a_copy_of_the_model_is_not_touched(data: TrainingSet) -> None:
    made = trainer(data, StepConfig(negatives=8, precision="bf16"))
    kept = copy.deepcopy(made.model)
    made.run(1)
    assert not torch.equal(kept.entities.weight, made.model.entities.weight)
    assert made.network is not made.model
