"""The ends of what parameters can be: nothing and everything, no width and all of it, rows of few bits.

Where a distance or its gradient is not a number, one query ends a run; so every space is asked where it is thinnest.
"""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from torch import Tensor, distributions

from pathformer.models._base import build
from pathformer.models._link_by_link import LinkModel
from pathformer.nn.table import Table
from pathformer.spaces._base import Space
from pathformer.spaces.beta import Beta
from pathformer.spaces.box import Box
from pathformer.spaces.cone import Cone
from pathformer.spaces.fuzzy import CONJUNCTIONS, Fuzzy, LogicName
from pathformer.spaces.gamma import Gamma
from pathformer.spaces.point import Point

PI = math.pi


def asked(space: Space, queries: Tensor, rows: Tensor) -> Tensor:
    """Every distance (Q, N), the same in every way to ask, and with gradients that are numbers."""
    points, table = queries.clone().requires_grad_(), Table(len(rows), rows.shape[1], 0.0, 1.0)
    with torch.no_grad():
        table.weight.copy_(rows)
    ids = torch.arange(len(rows)).repeat(len(queries), 1)
    found = space.distance_to(points, table.read(), ids)
    found.sum().backward()
    assert torch.isfinite(found).all()
    for leaf in (points, *table.parameters(), *space.parameters()):
        assert leaf.grad is not None
        assert torch.isfinite(leaf.grad).all()
    with torch.no_grad():
        torch.testing.assert_close(space.distance_to_all(queries, rows), found.detach(), rtol=1e-4, atol=1e-3)
        torch.testing.assert_close(space.distance(queries[:, None], rows), found.detach(), rtol=1e-4, atol=1e-3)
    return found.detach()


@pytest.mark.parametrize(("kind", "family"), [(Beta, distributions.Beta), (Gamma, distributions.Gamma)])
def test_distributions_from_almost_nothing_to_very_narrow(kind: type[Beta | Gamma], family: type) -> None:
    """alpha and beta of a query from 1/1000 to 1000, of an entity from the floor."""
    space = kind(1, 60.0)
    queries = torch.tensor(list(product((1e-3, 0.05, 1.0, 20.0, 1e3), repeat=2)))
    rows = torch.tensor(list(product((-5.0, -0.9, 0.0, 19.0, 999.0), repeat=2)))
    own = family(*space.regularize(rows).double().chunk(2, dim=-1))
    expected = distributions.kl_divergence(own, family(*queries.double()[:, None].chunk(2, dim=-1))).squeeze(-1)
    found = asked(space, queries, rows)
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=0.02)  # of parts of thousands
    assert found.min() > -0.02


@pytest.mark.parametrize("name", ["betae", "gammae"])
@pytest.mark.parametrize("size", [1e-9, 0.05, 1.0, 20.0, 1e9])
def test_a_complement_of_any_shape_is_a_distribution(name: str, size: float) -> None:
    model = build(name, {"dim": 2, "hidden": 4}, entities=3, relations=2)
    assert isinstance(model, LinkModel)
    turned = model.negate(torch.full((1, 4), size))
    assert torch.isfinite(turned).all()
    assert (turned > 0).all()
    assert torch.isfinite(model.space.distance_to_all(turned, model.entities.weight)).all()
    if name == "betae":
        torch.testing.assert_close(model.negate(turned), torch.full((1, 4), size))


def cones(*pairs: tuple[float, float]) -> tuple[Cone, Tensor]:
    space = Cone(1, 30.0)
    with torch.no_grad():
        space.scale.fill_(1.0)
    return space, torch.tensor(pairs)


def test_a_cone_without_width_is_a_direction_and_one_of_all_width_holds_everything() -> None:
    space, queries = cones(*product((-PI, -1.0, 0.0, 2.0, PI), (0.0, PI)))
    rows = torch.tensor([[-50.0], [-0.5], [0.0], [1e-4], [2.0]]) * space.range  # the first is the angle -pi
    found = asked(space, queries, rows)
    near = (((PI * torch.tanh(rows / space.range)).t() - queries[:, :1]) / 2).sin().abs()
    torch.testing.assert_close(found[::2], near[::2], rtol=1e-4, atol=1e-5)  # no width: all of the way counts
    # whole circle: all is inside, but for what float32 cannot tell from its rim, sqrt(2 eps) of it at most
    torch.testing.assert_close(found[1::2], 0.02 * near[1::2], rtol=0, atol=3.5e-4)
    torch.testing.assert_close(found[:2], found[-2:], rtol=1e-4, atol=1e-5)  # -pi and pi are one direction


def test_the_complement_of_no_cone_is_the_whole_circle_and_back() -> None:
    model = build("cone", {"dim": 1, "hidden": 4}, entities=5, relations=2)
    assert isinstance(model, LinkModel)
    assert model.negate(torch.tensor([[0.5, 0.0], [-0.5, PI]])).tolist() == [
        pytest.approx([0.5 - PI, PI], abs=1e-5),
        pytest.approx([PI - 0.5, 0.0], abs=1e-5),
    ]


def test_cones_without_width_meet_without_width() -> None:
    net = Cone(2, 30.0).intersection()
    branches = [torch.tensor([[0.5, -0.5, 0.0, PI]], requires_grad=True), torch.tensor([[0.5, 3.0, PI, 0.0]])]
    met = net(branches)
    met.sum().backward()
    assert met[0, 2:].tolist() == [0.0, 0.0]
    assert met[0, 0].item() == pytest.approx(0.5)
    assert branches[0].grad is not None
    assert torch.isfinite(branches[0].grad).all()


def test_a_box_without_width_is_a_point_and_below_zero_it_pushes_away() -> None:
    rows = torch.tensor([[-1.0, 2.0], [0.0, 0.0], [0.5, -3.0]])
    for offset in (0.0, -0.25, 1e-30):
        queries = torch.tensor([[0.5, -3.0, offset, offset], [0.0, 0.0, offset, offset]])
        away = (rows - queries[:, None, :2]).abs()
        expected = (away - offset + 0.02 * abs(offset)).sum(dim=-1)
        torch.testing.assert_close(asked(Box(2, 24.0), queries, rows), expected, rtol=1e-5, atol=1e-5)


def test_boxes_that_meet_where_one_has_no_width_have_none() -> None:
    met = Box(2, 24.0).intersection()([torch.tensor([[1.0, 2.0, 0.0, 3.0]]), torch.tensor([[1.0, 4.0, 5.0, 0.0]])])
    assert met[0, 2:].tolist() == [0.0, 0.0]
    assert met[0, 0].item() == pytest.approx(1.0)


@pytest.mark.parametrize("regularizer", ["sigmoid", "clamp"])
def test_an_empty_fuzzy_set_is_as_far_from_all(regularizer: str) -> None:
    space = Fuzzy(2, 20.0, regularizer)  # type: ignore[arg-type]
    rows = torch.tensor([[-9.0, -9.0], [9.0, 9.0], [0.2, 0.7]])
    found = asked(space, torch.tensor([[0.0, 0.0], [1.0, 1.0]]), rows)
    assert found[0].tolist() == [20.0] * 3
    assert found[1, 1].item() == pytest.approx(0.0, abs=1e-4)
    assert (found <= 20.0).all()


@pytest.mark.parametrize("logic", CONJUNCTIONS)
def test_fuzzy_sets_that_have_nothing_in_common_pull_at_nothing(logic: LogicName) -> None:
    """The way from an empty set is steep without bound (1 / |x|), but no weight that made it empty is on it."""
    space, raw = Fuzzy(3, 20.0, "clamp"), torch.tensor([[-1.0, 0.4, -0.2], [0.4, -1.0, -0.3]], requires_grad=True)
    one, other = space.regularize(raw)
    met = CONJUNCTIONS[logic](one, other)
    assert met.tolist() == [0.0] * 3
    space.distance(met, torch.tensor([[0.2, 0.7, 0.1]])).sum().backward()
    assert raw.grad is not None
    assert raw.grad.abs().max() == 0.0


def test_sums_over_few_bits_are_not_of_few_bits() -> None:
    """Rows of bfloat16 are what they are; the sum of 800 of their differences is not rounded to 8 bits again."""
    torch.manual_seed(0)
    rows = (torch.rand(400, 800) * 2 - 1).mul(26 / 800).bfloat16()
    for space, queries in ((Point(800, 24.0), rows[:1]), (Box(800, 24.0), Box(800, 24.0).anchor(rows[:1]))):
        found = space.distance(queries[:, None], rows)[0]
        assert found.dtype is torch.float32
        exact = (rows.double() - rows[:1].double()).abs().sum(dim=-1)
        torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-5)
        assert len(found.unique()) > 390  # in bfloat16 some twenty values would be left
