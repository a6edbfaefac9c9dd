"""Projections and complements of the geometric methods as loops, and their sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from pathformer.models._base import Model, build
from pathformer.models._batch import Batch
from pathformer.models.betae import BetaE
from pathformer.models.cone import ConE
from pathformer.models.gammae import GammaE
from pathformer.models.q2b import Query2Box
from pathformer.nn.mlp import MLP
from pathformer.plan.build import build_plan
from pathformer.query.structures import STRUCTURES


def made(name: str, **settings: Any) -> Model:
    torch.manual_seed(0)
    return build(name, {"dim": 4, **settings}, entities=9, relations=4).eval()


def point(model: Model, structure: str, ids: list[int]) -> list[float]:
    plan = build_plan([(STRUCTURES[structure], np.array([ids]))], model.union)
    found: list[float] = model.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))[0].tolist()
    return found


def network(mlp: MLP, x: list[float]) -> list[float]:
    layers = list(mlp.linears)
    for place, layer in enumerate(layers):
        weight, bias = layer.weight.tolist(), layer.bias.tolist()  # type: ignore[union-attr, operator]
        x = [sum(w * v for w, v in zip(row, x, strict=True)) + b for row, b in zip(weight, bias, strict=True)]
        x = [max(0.0, v) for v in x] if place < len(layers) - 1 else x
    return x


def reg(x: list[float], floor: float) -> list[float]:
    return [min(max(v + 1.0, floor), 1e9) for v in x]


def rows(table: Tensor) -> list[list[float]]:
    listed: list[list[float]] = table.tolist()
    return listed


def test_query2box_adds_centres_and_offsets() -> None:
    model = made("q2b")
    assert isinstance(model, Query2Box)
    e, r = rows(model.entities.weight), rows(model.relations.weight)
    expected = [c + a + b for c, a, b in zip([*e[1], 0, 0, 0, 0], r[2], r[3], strict=True)]
    assert point(model, "2p", [1, 2, 3]) == pytest.approx(expected, abs=1e-6)


def test_betae_projects_by_a_network_and_complements_by_reciprocals() -> None:
    model = made("betae", hidden=6)
    assert isinstance(model, BetaE)
    e, r = rows(model.entities.weight), rows(model.relations.weight)
    once = reg(network(model.projection, [*reg(e[1], 0.05), *r[2]]), 0.05)
    twice = reg(network(model.projection, [*once, *r[3]]), 0.05)
    assert point(model, "2p", [1, 2, 3]) == pytest.approx(twice, rel=1e-4)
    assert model.negate(torch.tensor([twice]))[0].tolist() == pytest.approx([1 / v for v in twice], rel=1e-5)
    # a peak becomes a valley: the density of Beta(1/a, 1/b) is unbounded where a, b > 1 had none
    assert (model.negate(torch.tensor([[2.0, 4.0]])) == torch.tensor([[0.5, 0.25]])).all()


def test_gammae_reads_anchors_raw_and_each_parameter_by_its_own_network() -> None:
    model = made("gammae", hidden=6)
    assert isinstance(model, GammaE)
    e, r = rows(model.entities.weight), rows(model.relations.weight)

    def step(x: list[float], relation: list[float]) -> list[float]:
        alpha, beta = [*x[:4], *relation[:4]], [*x[4:], *relation[4:]]
        return reg([*network(model.alpha, alpha), *network(model.beta, beta)], 0.15)

    assert point(model, "2p", [1, 2, 3]) == pytest.approx(step(step(e[1], r[2]), r[3]), rel=1e-4)
    turned = model.negate(torch.tensor([[0.5, 2.0, 4.0, 1.0, 1.5, 1.0, 0.99, 0.2]]))[0].tolist()
    assert turned == pytest.approx([2.0, 0.5, 0.25, 1.0, 1.43, 0.93, 1.06, 0.27])


def test_cone_turns_by_a_network_and_its_complement_is_the_rest_of_the_circle() -> None:
    model = made("cone", hidden=6)
    assert isinstance(model, ConE)
    e, r, reach = rows(model.entities.weight), rows(model.relations.weight), model.space.range

    def step(x: list[float], relation: list[float]) -> list[float]:
        moved = [v + math.pi * math.tanh(u / reach) for v, u in zip(x, relation, strict=True)]
        out = network(model.projection, moved)
        return [math.pi * math.tanh(v) for v in out[:4]] + [math.pi / 2 * (math.tanh(2 * v) + 1) for v in out[4:]]

    anchor = [math.pi * math.tanh(v / reach) for v in e[1]] + [0.0] * 4
    assert point(model, "2p", [1, 2, 3]) == pytest.approx(step(step(anchor, r[2]), r[3]), abs=1e-4)
    turned = model.negate(torch.tensor([[1.0, -1.0, 0.0, 3.0, 0.5, 1.0, 3.0, 0.0]]))[0].tolist()
    pi = math.pi
    assert turned == pytest.approx([1 - pi, pi - 1, -pi, 3 - pi, pi - 0.5, pi - 1, pi - 3, pi], abs=1e-5)
    again = model.negate(model.negate(torch.tensor([[1.0, -1.0, 0.5, 3.0, 0.5, 1.0, 3.0, 0.0]])))
    assert again[0].tolist() == pytest.approx([1.0, -1.0, 0.5, 3.0, 0.5, 1.0, 3.0, 0.0], abs=1e-5)


def test_de_morgan_is_one_point_and_the_normal_form_two() -> None:
    for name in ("betae", "cone"):
        for union, points in (("dnf", 2), ("demorgan", 1)):
            model = made(name, hidden=6, union=union)
            plan = build_plan([(STRUCTURES["2u"], np.array([[1, 2, 3, 0]]))], model.union)
            assert len(model.encode(Batch.of(plan.layout), torch.from_numpy(plan.ids))) == points


SIZES = {  # at the paper's size, tables apart: sums of the layers' weights and biases
    "gqe": 800 * 800 + 800 + 800 * 800,
    "q2b": (400 * 400 + 400 + 400 * 400) + 2 * (400 * 400 + 400),
    "betae": (1201 * 1600 + 1601 * 1600 + 1601 * 800) + (801 * 800 + 800 * 400),
    "gammae": 2 * (801 * 1600 + 3 * 1601 * 1600 + 1601 * 400) + 2 * (801 * 400 + 400 * 400),
    "cone": (1601 * 1600 + 1601 * 1600 + 1601 * 1600) + (1601 * 800 + 800 * 800) + (1601 * 800 + 801 * 800) + 1,
}
FLOATS = {"gqe": 800, "q2b": 400, "betae": 800, "gammae": 800, "cone": 800}  # an entity's


@pytest.mark.parametrize("name", SIZES)
def test_sizes_at_the_papers_dimension(name: str) -> None:
    with torch.device("meta"):
        model = build(name, {}, entities=14_505, relations=474)
    assert model.sizes()["network"] == SIZES[name]
    assert model.entities.weight.shape == (14_505, FLOATS[name])


def test_gammaes_source_has_twice_the_numbers() -> None:
    with torch.device("meta"):
        model = build("gammae", {"dim": 800}, entities=10, relations=2)
    assert model.entities.weight.shape == (10, 1600)


@pytest.mark.parametrize(("space", "margin", "network"), [("box", 30.0, 4_493_200), ("beta", 60.0, 4_812_800)])
def test_sizes_of_pathformer_in_other_spaces(space: str, margin: float, network: int) -> None:
    """Two encoders of one layer at d = 400, and the space's intersection."""
    with torch.device("meta"):
        model = build(
            "pathformer", {"space": space, "dim": 400, "margin": margin, "layers": 1}, entities=10, relations=2
        )
    assert model.sizes()["network"] == network
    assert model.sizes()["tables"] == 10 * model.space.entity_width + 3 * 800
