"""Cones: distance, complement and intersection by angle, in loops."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from pathformer.models._base import build
from pathformer.models._batch import Batch
from pathformer.plan.build import build_layout
from pathformer.plan.layout import Block
from pathformer.query.structures import structure
from pathformer.spaces.cone import Cone, ConeIntersection, aperture, axis

INSIDE = 0.02  # the source's, whatever the code says


def loop(space: Cone, query: list[float], entity: list[float]) -> float:
    d, total = len(entity), 0.0
    for t, s, v in zip(query[:d], query[d:], entity, strict=True):
        own = math.pi * math.tanh(v / space.range)
        near, rim = abs(math.sin((own - t) / 2)), abs(math.sin(s / 2))
        out = 0.0
        if near >= rim:
            out = min(abs(math.sin((own - t + s) / 2)), abs(math.sin((own - t - s) / 2)))
        total += out + INSIDE * min(near, rim)
    return space.scale.item() * total


def some() -> tuple[Cone, Tensor, Tensor]:
    torch.manual_seed(0)
    space = Cone(6, 30.0)
    queries = torch.cat([torch.rand(4, 6) * 2 * math.pi - math.pi, torch.rand(4, 6) * math.pi], dim=1)
    return space, queries, torch.randn(5, 6) * space.range


def test_distance_by_loops() -> None:
    space, queries, entities = some()
    every = space.distance_to_all(queries, entities)
    for q in range(4):
        for e in range(5):
            expected = loop(space, queries[q].tolist(), entities[e].tolist())
            assert every[q, e].item() == pytest.approx(expected, rel=1e-4)


def test_an_entity_inside_a_cone_is_outside_its_complement() -> None:
    space = Cone(1, 30.0)
    with torch.no_grad():
        space.scale.fill_(1.0)
    entity = space.range * torch.atanh(torch.tensor([0.1]))  # the angle 0.1 pi
    cone = torch.tensor([0.0, math.pi / 2])  # half of the circle around 0
    rest = torch.tensor([math.pi, math.pi / 2])
    assert space.distance(cone, entity).item() == pytest.approx(INSIDE * math.sin(0.05 * math.pi), rel=1e-4)
    beyond = math.sin((math.pi / 2 - 0.1 * math.pi) / 2)
    inside = INSIDE * math.sin(math.pi / 4)
    assert space.distance(rest, entity).item() == pytest.approx(beyond + inside, rel=1e-4)


def test_every_way_to_ask_is_the_same() -> None:
    from pathformer.nn.table import Table

    space, queries, entities = some()
    table = Table(5, 6, -1, 1)
    with torch.no_grad():
        table.weight.copy_(entities)
    every = space.distance_to_all(queries, entities)
    torch.testing.assert_close(space.distance_to_all(queries, entities, chunk=1), every)
    for ids in (torch.tensor([[1], [0], [4], [4]]), torch.arange(5).repeat(4, 1)):
        torch.testing.assert_close(space.distance_to(queries, table.read(), ids), every.gather(1, ids))


def test_angles_and_the_scale_at_first() -> None:
    values = torch.linspace(-3, 3, 7)
    assert axis(values).tolist() == pytest.approx([math.pi * math.tanh(x) for x in values.tolist()], rel=1e-5)
    assert aperture(values).tolist() == pytest.approx(
        [math.pi / 2 * math.tanh(2 * x) + math.pi / 2 for x in values.tolist()], rel=1e-4, abs=1e-4
    )
    space = Cone(800, 30.0, start="reference")
    assert space.scale.item() == pytest.approx(32 / 800 / 2)
    assert (space.entity_width, space.relation_width, space.query_width) == (800, 1600, 1600)
    raw = torch.randn(2, 1600)
    valid = space.regularize(raw)
    torch.testing.assert_close(valid, torch.cat([axis(raw[:, :800]), aperture(raw[:, 800:])], dim=1))
    anchored = space.anchor(torch.randn(2, 800))
    assert (anchored[:, 800:] == 0).all()


def test_the_intersection_is_a_mean_direction_and_a_smaller_aperture() -> None:
    torch.manual_seed(0)
    d, net = 4, ConeIntersection(4, 0.5).eval()
    branches = [torch.rand(n, 8) * 3 for n in (3, 3, 2)]
    found, state = net(branches), net.state_dict()
    for fork in range(3):
        rows = [branch[fork] for branch in branches if fork < len(branch)]
        features = [torch.cat([row[:d] - row[d:], row[:d] + row[d:]]) for row in rows]
        scores = [
            state["attention.scores.weight"]
            @ (state["attention.hidden.weight"] @ f + state["attention.hidden.bias"]).clamp(min=0)
            for f in features
        ]
        seen = [(state["each.linears.0.weight"] @ f + state["each.linears.0.bias"]).clamp(min=0) for f in features]
        gate = state["all.linears.0.weight"] @ (sum(seen) / len(seen)) + state["all.linears.0.bias"]
        for k in range(d):
            shares = [math.exp(score[k]) for score in scores]
            x = sum(s * math.cos(row[k]) for s, row in zip(shares, rows, strict=True)) / sum(shares)
            y = sum(s * math.sin(row[k]) for s, row in zip(shares, rows, strict=True)) / sum(shares)
            half = min(row[d + k].item() for row in rows) / (1 + math.exp(-gate[k]))
            assert found[fork, k].item() == pytest.approx(math.atan2(y, x), abs=1e-4)
            assert found[fork, d + k].item() == pytest.approx(half, abs=1e-4)


def test_two_opposite_directions_have_a_mean_with_a_gradient() -> None:
    net = ConeIntersection(1, 0.0)
    with torch.no_grad():
        net.attention.scores.weight.zero_()  # equal weights
    branches = [torch.tensor([[math.pi / 2, 1.0]], requires_grad=True), torch.tensor([[-math.pi / 2, 1.0]])]
    met = net(branches)
    met.sum().backward()
    assert torch.isfinite(met).all()
    assert branches[0].grad is not None
    assert torch.isfinite(branches[0].grad).all()


def test_dropout_of_apertures_only_while_training() -> None:
    torch.manual_seed(0)
    net, branches = ConeIntersection(50, 0.5), [torch.rand(4, 100) + 0.1, torch.rand(4, 100) + 0.1]
    closed = (net.train()(branches)[:, 50:] == 0).float().mean()
    assert 0.6 < closed < 0.9  # 1 - 0.5^2
    assert (net.eval()(branches)[:, 50:] > 0).all()


@pytest.mark.parametrize(("start", "least", "most"), [("margin", 0.55, 1.2), ("reference", 0.05, 0.25)])
def test_where_the_scale_starts_decides_where_the_first_distances_lie(start: str, least: float, most: float) -> None:
    torch.manual_seed(0)
    model = build("cone", {"dim": 200, "hidden": 400, "start": start}, entities=50, relations=6)
    layout = build_layout([Block(structure("1p"), 40)])
    ids = torch.stack([torch.randint(50, (40,)), torch.randint(6, (40,))], dim=1).flatten()
    with torch.no_grad():
        distances = model.space.distance_to_all(model.encode(Batch.of(layout), ids), model.entities.weight)
    assert least < distances.mean().item() / 30.0 < most
