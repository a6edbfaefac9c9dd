"""What every method keeps to, found by its file, in every variant of its settings."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from contract_cases import CASES, ENTITIES, IDS, RELATIONS, SMALL, VARIANTS, distances, make, planned, tables, takes
from safetensors.torch import load_file, save_file
from torch import Tensor

from pathformer import plugins
from pathformer.errors import UnknownPluginError, UnsupportedQueryError
from pathformer.models import Batch, Model, find
from pathformer.nn.table import Reading, Table
from pathformer.plan import build_plan
from pathformer.query.structures import STRUCTURES, structure

every_variant = pytest.mark.parametrize(("name", "variant"), CASES, ids=IDS)


def test_every_method_is_under_contract() -> None:
    assert set(plugins.names("pathformer.models")) == set(SMALL)
    assert set(VARIANTS) <= set(SMALL)
    for name in SMALL:
        assert find(name).name == name


@every_variant
def test_batched_is_one_by_one(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    parts = tables(made)
    together = distances(made, planned(made, parts))
    assert torch.isfinite(together).all()
    alone = [distances(made, planned(made, [(shape, row[None])])) for shape, table in parts for row in table]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-4, atol=1e-4)


@every_variant
def test_row_order_and_longer_neighbours_change_nothing(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    parts = tables(made)
    expected = distances(made, planned(made, parts)).split([len(table) for _, table in parts])
    long = (structure("(e,(r,r,r,r,r,r,r,r,r))"), np.zeros((2, 10), np.int32))
    turned = [(shape, table[::-1]) for shape, table in reversed(parts)]
    first = [long] if takes(made, long[0]) else []
    found = distances(made, planned(made, [*first, *turned])).split([len(table) for _, table in (*first, *turned)])
    for one, other in zip(reversed(found[len(first) :]), expected, strict=True):
        torch.testing.assert_close(one.flip(0), other, rtol=1e-4, atol=1e-4)


@every_variant
def test_saved_and_loaded_it_answers_the_same(name: str, variant: dict[str, Any], tmp_path: Path) -> None:
    made, other = make(name, variant), make(name, variant, seed=1)
    plan = planned(made, tables(made))
    assert not torch.equal(distances(made, plan), distances(other, plan))
    save_file({k: v.contiguous() for k, v in made.state_dict().items()}, tmp_path / "model.safetensors")
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(distances(made, plan), distances(other, plan))


@every_variant
def test_gradients_reach_every_parameter(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant).train()
    found = distances(made, planned(made, tables(made, 20)))
    (found * torch.randn_like(found)).mean().backward()  # a plain mean is blind to what moves all distances alike
    for parameter, weight in made.named_parameters():
        assert weight.grad is not None, parameter
        assert torch.isfinite(weight.grad).all(), parameter
        assert weight.grad.abs().max() > 1e-8, parameter  # above the rounding of a gradient that is zero


@every_variant
def test_a_row_of_the_space_for_every_disjunct(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    plan = planned(made, tables(made))
    points = made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert points.shape == (len(plan.layout.roots), made.space.query_width)
    assert made.entities.weight.shape == (ENTITIES, made.space.entity_width)


@every_variant
def test_all_entities_are_measured_as_candidates_are(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    plan = planned(made, tables(made))
    batch, ids = Batch.of(plan.layout), torch.from_numpy(plan.ids)
    points = made.encode(batch, ids).detach()
    every = made.space.distance_to_all(points, made.entities.weight.detach())
    torch.testing.assert_close(batch.smallest(every), distances(made, plan), rtol=1e-4, atol=1e-4)
    pairs = made.space.distance(points[:, None], made.entities.weight)
    torch.testing.assert_close(every, pairs.float(), rtol=1e-4, atol=1e-4)
    few = made.distances(batch, ids, torch.tensor([[3]]).expand(plan.layout.queries, 1))  # fewer than entities
    torch.testing.assert_close(few, distances(made, plan)[:, 3:4], rtol=1e-4, atol=1e-4)
    if (products := made.space.products(points, made.entities.weight)) is not None:
        below = every + products[0] @ products[1].t()  # a constant a query
        torch.testing.assert_close(below, below[:, :1].expand_as(below), rtol=1e-3, atol=1e-3)


@every_variant
def test_bfloat16_weights_give_float32_distances_beside_the_exact_ones(name: str, variant: dict[str, Any]) -> None:
    made = make(name, variant)
    low, plan = copy.deepcopy(made).to(torch.bfloat16), planned(made, tables(made))
    found, exact = distances(low, plan), distances(made, plan)
    assert found.dtype is torch.float32
    # Forks of many branches and long chains add roundings up; in the mean the two lie together
    assert (found - exact).abs().mean() < 0.15 * exact.abs().mean()
    found.mean().backward()
    assert all(torch.isfinite(weight.grad).all() for weight in low.parameters() if weight.grad is not None)


@pytest.mark.parametrize("name", [name for name in SMALL if not find(name).negation])
def test_a_method_without_negation_refuses_it_by_name(name: str) -> None:
    made, able = make(name, {}), [other for other in SMALL if find(other).negation]
    plan = build_plan([(STRUCTURES["2p"], np.zeros((1, 3), np.int32)), (STRUCTURES["2in"], np.zeros((1, 4), np.int32))])
    with pytest.raises(UnsupportedQueryError) as refused:
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert str(refused.value) == f"{name} cannot take a negation (in 2in); methods that can: {', '.join(sorted(able))}"


@pytest.mark.parametrize("space", ["box", "beta"])
def test_a_setting_may_take_negation_away(space: str) -> None:
    made = make("pathformer", {"space": space})
    plan = build_plan([(STRUCTURES["pni"], np.zeros((1, 5), np.int32))])
    with pytest.raises(
        UnsupportedQueryError, match=r"pathformer cannot take a negation \(in pni\); methods that can: "
    ):
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert make("pathformer", {}).negation


@pytest.mark.parametrize("name", [name for name in SMALL if not find(name).native])
def test_a_method_without_a_union_of_its_own_refuses_one_by_name(name: str) -> None:
    made, able = make(name, {}), [other for other in SMALL if find(other).native]
    plan = build_plan([(STRUCTURES["up"], np.zeros((1, 5), np.int32))], "native")
    with pytest.raises(UnsupportedQueryError) as refused:
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    assert str(refused.value).startswith(f"{name} cannot take a union as it is")
    assert str(refused.value).endswith(f"(in up); methods that can: {', '.join(sorted(able))}")


class Positive(Model):
    """A method that knows no negation."""

    name: ClassVar[str] = "positive"
    negation = False

    def __init__(self) -> None:
        super().__init__(None, ENTITIES, RELATIONS)
        self.entities = Table(ENTITIES, 1, 0.0, 1.0)

    def embed(self, batch: Batch, ids: Tensor, entities: Reading) -> Tensor:
        return torch.zeros(len(batch.roots), 1)


def test_what_a_method_cannot_express_is_named_structure_by_structure() -> None:
    made = Positive()
    names = ("2p", "2in", "pni")
    parts = [(STRUCTURES[name], np.zeros((1, len(STRUCTURES[name].columns)), np.int32)) for name in names]
    plan = build_plan(parts)
    with pytest.raises(UnsupportedQueryError, match=r"positive cannot take a negation \(in 2in, pni\); methods that"):
        made.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))
    positive = build_plan(parts[:1])
    assert len(made.encode(Batch.of(positive.layout), torch.from_numpy(positive.ids))) == 1


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(UnknownPluginError, match="pathformr"):
        find("pathformr")
