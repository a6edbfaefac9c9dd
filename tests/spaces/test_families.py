"""Beta and Gamma distributions: the divergences as printed, number by number, and against torch's own."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, distributions

from pathformer.nn.table import Table
from pathformer.spaces._derived import Bilinear
from pathformer.spaces.beta import Beta, BetaIntersection
from pathformer.spaces.gamma import Gamma, GammaIntersection

both = pytest.mark.parametrize("kind", [Beta, Gamma])


def psi(x: float) -> float:
    return torch.digamma(torch.tensor(x, dtype=torch.float64)).item()


def log_b(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def kl_beta(a1: float, b1: float, a2: float, b2: float) -> float:
    return (
        log_b(a2, b2) - log_b(a1, b1) + (a1 - a2) * psi(a1) + (b1 - b2) * psi(b1) + (a2 - a1 + b2 - b1) * psi(a1 + b1)
    )


def kl_gamma(a1: float, b1: float, a2: float, b2: float) -> float:
    return (
        (a1 - a2) * psi(a1)
        - math.lgamma(a1)
        + math.lgamma(a2)
        + a2 * (math.log(b1) - math.log(b2))
        + a1 * (b2 - b1) / b1
    )


LOOPS = {Beta: kl_beta, Gamma: kl_gamma}
TORCH = {Beta: distributions.Beta, Gamma: distributions.Gamma}
FLOOR = {Beta: 0.05, Gamma: 0.15}


def some(kind: type[Bilinear], seed: int = 0) -> tuple[Bilinear, Tensor, Tensor]:
    torch.manual_seed(seed)
    return kind(3, 60.0), torch.rand(4, 6) * 3 + 0.1, torch.randn(5, 6)  # type: ignore[call-arg]


@both
def test_the_divergence_is_the_printed_one(kind: type[Bilinear]) -> None:
    space, queries, entities = some(kind)
    every = space.distance_to_all(queries, entities)
    for q in range(4):
        for e in range(5):
            own = [max(x + 1.0, FLOOR[kind]) for x in entities[e].tolist()]
            other = queries[q].tolist()
            total = sum(LOOPS[kind](own[k], own[3 + k], other[k], other[3 + k]) for k in range(3))
            assert every[q, e].item() == pytest.approx(total, rel=1e-4, abs=1e-4)


@both
def test_the_divergence_is_torchs_and_entity_comes_first(kind: type[Bilinear]) -> None:
    space, queries, entities = some(kind, 1)
    of_entities = TORCH[kind](*space.regularize(entities).chunk(2, dim=-1))
    of_queries = TORCH[kind](*queries[:, None].chunk(2, dim=-1))
    expected = distributions.kl_divergence(of_entities, of_queries).sum(dim=-1)
    torch.testing.assert_close(space.distance(queries[:, None], entities), expected, rtol=1e-4, atol=1e-4)
    turned = distributions.kl_divergence(of_queries, of_entities).sum(dim=-1)
    assert not torch.allclose(expected, turned, rtol=1e-2)


@both
def test_every_way_to_ask_gives_the_same_numbers_and_gradients(kind: type[Bilinear]) -> None:
    space, queries, entities = some(kind)
    grads = []
    for ids in (torch.tensor([[0], [2], [2], [4]]), torch.tensor([[0, 1, 2]] * 4)):  # fewer and more than entities
        for chosen in (True, False):
            table, points = Table(5, 6, -1, 1), queries.clone().requires_grad_()
            with torch.no_grad():
                table.weight.copy_(entities)
            if chosen:
                found = space.distance_to(points, table.read(), ids)
            else:
                found = space.distance(points[:, None], table.weight[ids])
            (found * torch.arange(1.0, 1 + found.numel()).view_as(found)).sum().backward()
            assert table.weight.grad is not None
            assert points.grad is not None
            grads.append((found.detach(), table.weight.grad, points.grad))
    for one, other in (grads[:2], grads[2:]):
        for a, b in zip(one, other, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


@both
def test_a_distribution_is_no_distance_from_itself_and_some_from_others(kind: type[Bilinear]) -> None:
    space, _, entities = some(kind)
    every = space.distance_to_all(space.anchor(entities), entities)
    assert every.diagonal().abs().max() < 1e-4
    assert (every + torch.eye(5) > 1e-3).all()


@both
def test_parameters_stay_above_their_floor_also_beside_bfloat16(kind: type[Bilinear]) -> None:
    space = kind(2, 60.0)  # type: ignore[call-arg]
    assert space.regularize(torch.tensor([-9.0, 0.0, 1.0, 2e9])).tolist() == pytest.approx([FLOOR[kind], 1, 2, 1e9])
    fine = space.regularize(torch.tensor([0.01, 0.011], dtype=torch.bfloat16))
    assert fine[0] < fine[1]  # in bfloat16 both would be 1.0078
    assert space.parts == 2


def test_initial_ranges_and_widths() -> None:
    beta, gamma = Beta(400, 60.0), Gamma(400, 60.0)
    assert (beta.entity_width, beta.relation_width, beta.query_width) == (800, 400, 800)
    assert (gamma.entity_width, gamma.relation_width, gamma.query_width) == (800, 800, 800)
    for table, reach in [
        (beta.entity_table(30), 62 / 400),
        (beta.relation_table(30), 62 / 400),
        (beta.operator_table(30), 62 / 400),
        (gamma.entity_table(30), 3 * 62 / 400),
        (gamma.relation_table(30), 3 * 62 / 400),
    ]:
        assert 0.99 * reach < table.weight.abs().max().item() <= reach
    assert beta.operator_table(3).weight.shape == (3, 800)


def attend(net: torch.nn.Module, rows: list[Tensor]) -> Tensor:
    """The weights of one fork's branches, (b, d)."""
    state = net.state_dict()
    scores = [state["scores.weight"] @ (state["hidden.weight"] @ x + state["hidden.bias"]).clamp(min=0) for x in rows]
    shares = torch.stack([score.exp() for score in scores])
    return shares / shares.sum(dim=0)


def test_intersections_are_weighted_sums_of_parameters() -> None:
    torch.manual_seed(0)
    branches = [torch.rand(3, 8) + 0.5, torch.rand(3, 8) + 0.5, torch.rand(1, 8) + 0.5]
    beta, gamma = BetaIntersection(4), GammaIntersection(4)
    for fork in range(3):
        rows = [branch[fork] for branch in branches if fork < len(branch)]
        values = torch.stack(rows)
        one = attend(beta.attention, rows)
        expected = (torch.cat([one, one], dim=1) * values).sum(dim=0)
        torch.testing.assert_close(beta(branches)[fork], expected, rtol=1e-5, atol=1e-6)
        two = torch.cat([attend(gamma.alpha, rows), attend(gamma.beta, rows)], dim=1)
        torch.testing.assert_close(gamma(branches)[fork], (two * values).sum(dim=0), rtol=1e-5, atol=1e-6)


@both
def test_large_parameters_cost_little_precision(kind: type[Bilinear]) -> None:
    """The sum is split into parts that almost cancel where a query equals an entity: at d = 400 and alpha, beta
    around 50 the parts are tens of thousands, and the rest is still right to a few hundredths."""
    torch.manual_seed(0)
    space, entities = kind(400, 60.0), 49.0 + 5 * torch.randn(6, 800)  # type: ignore[call-arg]
    queries = space.anchor(entities) + 0.5 * torch.randn(6, 800)
    exact = distributions.kl_divergence(
        TORCH[kind](*space.regularize(entities).double().chunk(2, dim=-1)),
        TORCH[kind](*queries.double().chunk(2, dim=-1)),
    ).sum(dim=-1)
    found = space.distance_to_all(queries, entities).diagonal()
    assert exact.max() < 5
    assert (found - exact).abs().max() < 0.05
