"""MLP, Mixer, folds, tables and draws against loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from pathformer.nn.backend import force, is_fused
from pathformer.nn.combine import LeftFold, MeanPair, MLPPair, SetFold, SumFold, WeighedFold
from pathformer.nn.draw_candidates import draw_candidates
from pathformer.nn.mixer import Mixer
from pathformer.nn.mlp import MLP
from pathformer.nn.table import Table, assemble, take_once


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_mlp_has_relu_between_its_maps_only() -> None:
    torch.manual_seed(0)
    mlp = MLP(3, 5, 4, 2)
    x = torch.randn(6, 3)
    a, b, c = mlp.linears
    torch.testing.assert_close(mlp(x), c(b(a(x).relu()).relu()))
    assert (mlp(torch.randn(100, 3)) < 0).any()
    assert count(MLP(1600, 1600, 800, 800)) == 4_483_200


def test_a_pair_is_equation_4() -> None:
    torch.manual_seed(0)
    pair = MLPPair(3, [5, 4])
    left, right = torch.randn(2, 3), torch.randn(2, 3)
    for row, found in enumerate(pair(left, right).tolist()):
        values = [*left[row].tolist(), *right[row].tolist()]  # E_i (+) E_j
        for place, layer in enumerate(pair.mlp.linears):
            assert isinstance(layer, nn.Linear)
            values = [max(value, 0.0) for value in values] if place else values
            rows = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
            values = [sum(w * v for w, v in zip(weights, values, strict=True)) + bias for weights, bias in rows]
        assert found == pytest.approx(values, rel=1e-4, abs=1e-6)


def gelu(x: float) -> float:
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def test_mixer_is_its_description() -> None:
    torch.manual_seed(0)
    mixer = Mixer(6, channels=4, blocks=2, token_hidden=5, channel_hidden=3)
    left, right = torch.randn(2, 6), torch.randn(2, 6)
    found = mixer(left, right)
    for row in range(2):
        signal = torch.stack([left[row], right[row]], dim=1) @ mixer.spread.weight.t() + mixer.spread.bias  # (d, C)
        for block in mixer.blocks:
            normed = _whole_norm(signal)
            for channel in range(4):
                signal[:, channel] = signal[:, channel] + _two_maps(block.tokens, normed[:, channel])
            normed = _whole_norm(signal)
            for place in range(6):
                signal[place] = signal[place] + _two_maps(block.channels, normed[place])
        expected = mixer.out(_whole_norm(signal).mean(dim=1))
        torch.testing.assert_close(found[row], expected, rtol=1e-4, atol=1e-5)


def _whole_norm(signal: Tensor) -> Tensor:
    return (signal - signal.mean()) / (signal.var(unbiased=False) + 1e-5).sqrt()


def _two_maps(maps: nn.Sequential, x: Tensor) -> Tensor:
    hidden = maps[0].weight @ x + maps[0].bias
    return maps[2].weight @ torch.tensor([gelu(v) for v in hidden.tolist()]) + maps[2].bias


def test_mixer_at_the_papers_size() -> None:
    assert count(Mixer(800)) / 1e6 == pytest.approx(1.60, abs=0.01)


BRANCHES = [5, 5, 3, 1]  # five forks: one of four branches, two of three, two of two


@pytest.mark.parametrize("kind", ["mlp", "mean", "mixer"])
def test_left_fold_is_pairwise_from_the_left(kind: str) -> None:
    pairs = {
        "mlp": MLPPair(6, [8]),
        "mean": MeanPair(MLPPair(6, [8]), MLPPair(6, [8])),
        "mixer": Mixer(6, channels=3, blocks=1, token_hidden=4, channel_hidden=2),
    }
    fold = LeftFold(pairs[kind])
    branches = [torch.randn(size, 6) for size in BRANCHES]
    found = fold(branches)
    for fork in range(5):
        value = branches[0][fork : fork + 1]
        for branch in branches[1:]:
            if fork < len(branch):
                value = fold.pair(value, branch[fork : fork + 1])
        torch.testing.assert_close(found[fork], value[0], rtol=1e-4, atol=1e-5)


def test_two_vectors_average_two_networks() -> None:
    one, two = MLPPair(6, [8]), MLPPair(6, [8])
    left, right = torch.randn(3, 6), torch.randn(3, 6)
    torch.testing.assert_close(MeanPair(one, two)(left, right), (one(left, right) + two(left, right)) / 2)


def test_set_fold_ignores_order_and_pairwise_fold_does_not() -> None:
    torch.manual_seed(0)
    branches = [torch.randn(1, 6) for _ in range(3)]
    fold = SetFold(6)
    results = [fold(list(order)) for order in permutations(branches)]
    for result in results[1:]:
        torch.testing.assert_close(result, results[0])
    pairwise = LeftFold(MLPPair(6, [8]))
    assert not torch.allclose(pairwise(branches), pairwise(branches[::-1]))


def test_set_fold_treats_each_fork_by_its_own_arity() -> None:
    fold = SetFold(6)
    branches = [torch.randn(size, 6) for size in BRANCHES]
    found = fold(branches)
    for fork in range(5):
        own = [fold.each(branch[fork]).relu() for branch in branches if fork < len(branch)]
        stacked = torch.stack(own)
        expected = fold.all(torch.cat([stacked.mean(dim=0), stacked.max(dim=0).values]))
        torch.testing.assert_close(found[fork], expected, rtol=1e-4, atol=1e-5)
    assert count(SetFold(800)) == count(MLPPair(800, [1600, 800]))


def test_take_once_and_its_gradient() -> None:
    values = torch.randn(5, 3, requires_grad=True)
    rows = torch.tensor([4, 0, 2])
    taken = take_once(values, rows)
    assert torch.equal(taken, values[rows])
    weights = torch.randn(3, 3)
    (taken * weights).sum().backward()
    expected = torch.zeros(5, 3).index_copy(0, rows, weights)
    assert torch.equal(values.grad, expected)


def test_assemble_puts_every_row_in_its_place() -> None:
    one, two = Table(4, 3, -1, 1), Table(6, 3, -1, 1)
    values = torch.randn(2, 3, requires_grad=True)
    ids = torch.tensor([3, 0, 3]), torch.tensor([5])
    places = torch.tensor([0, 4, 2]), torch.tensor([5]), torch.tensor([3, 1])
    order = torch.cat(places).argsort()
    parts = [(one.read(), ids[0], places[0]), (two.read(), ids[1], places[1])]
    rows = assemble(parts, (values, places[2]), order, 6)
    expected = [one.weight[3], values[1], one.weight[3], values[0], one.weight[0], two.weight[5]]
    assert torch.equal(rows, torch.stack(expected))
    rows.sum().backward()
    assert one.weight.grad is not None
    assert one.weight.grad.sum(dim=1).tolist() == [3, 0, 0, 6]


def test_tables_start_uniform_in_their_range() -> None:
    torch.manual_seed(0)
    table = Table(1000, 50, -0.25, 0.25)
    assert len(table) == 1000
    assert table.weight.min() >= -0.25
    assert table.weight.max() <= 0.25
    assert table.weight.std().item() == pytest.approx(0.5 / math.sqrt(12), rel=0.02)


@given(st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1))))
def test_every_outsider_is_drawn_by_one_rank(case: tuple[int, set[int]]) -> None:
    total, members = case
    outside = sorted(set(range(total)) - members)
    bounds = torch.tensor([0, len(members)])
    chance = torch.arange(len(outside) + 1)[None]  # the member's draw, then ranks 0, 1, ...
    chance[0, 1:] -= 1
    found, sizes = draw_candidates(
        chance, torch.tensor([0]), bounds, torch.tensor(sorted(members), dtype=torch.int32), total, True
    )
    assert found[0, 1:].tolist() == outside
    assert found[0, 0].item() == min(members)
    assert sizes.tolist() == [len(members)]


def test_members_are_drawn_evenly_and_outsiders_never_inside() -> None:
    torch.manual_seed(0)
    bounds, members = torch.tensor([0, 2, 5]), torch.tensor([1, 7, 0, 4, 9], dtype=torch.int32)
    sets = torch.tensor([0, 1]).repeat(4000)
    found, _ = draw_candidates(torch.randint(2**62, (8000, 4)), sets, bounds, members, 10, True)
    for number, inside in ((0, {1, 7}), (1, {0, 4, 9})):
        own = found[sets == number]
        counts = own[:, 0].bincount(minlength=10)
        assert set(counts.nonzero().flatten().tolist()) == inside
        assert counts[counts > 0].float().div(4000 / len(inside)).sub(1).abs().max() < 0.1
        outside = own[:, 1:].flatten().bincount(minlength=10)
        assert set(outside.nonzero().flatten().tolist()) == set(range(10)) - inside
        assert outside[outside > 0].float().div(12000 / (10 - len(inside))).sub(1).abs().max() < 0.1


def test_unfiltered_draws_and_full_sets_stay_in_range() -> None:
    torch.manual_seed(0)
    bounds, members = torch.tensor([0, 4]), torch.arange(4, dtype=torch.int32)
    chance = torch.randint(2**62, (50, 9))
    sets = torch.zeros(50, dtype=torch.int64)
    anywhere, _ = draw_candidates(chance, sets, bounds, members[:4], 4, False)
    assert set(anywhere.flatten().tolist()) == {0, 1, 2, 3}
    everything, _ = draw_candidates(chance, sets, bounds, members, 4, True)
    assert set(everything.flatten().tolist()) <= {0, 1, 2, 3}


def test_the_processor_takes_plain_lines() -> None:
    assert not is_fused(torch.zeros(1))
    with force("plain"):
        assert not is_fused(torch.zeros(1))


@pytest.mark.parametrize("dim", [6, 7])
@pytest.mark.parametrize("kind", [WeighedFold, SumFold], ids=["weighed", "both"])
def test_sums_of_branches_are_their_loops_and_near_the_plain_sum_at_first(
    kind: Callable[[int], WeighedFold | SumFold], dim: int
) -> None:
    torch.manual_seed(0)
    fold = kind(dim)
    branches = [torch.randn(4, dim), torch.randn(4, dim), torch.randn(2, dim)]
    found = fold(branches)
    for row in range(4):
        own = [branch[row] for branch in branches if row < len(branch)]
        plain = torch.stack(own).sum(dim=0)
        scaled = [(one - one.mean()) / (one.var(unbiased=False) + 1e-5).sqrt() for one in own]
        if isinstance(fold, SumFold):
            expected = fold.sum([one[None] for one in own])[0] + fold.more([one[None] for one in scaled])[0]
        else:
            expected = sum(fold.weight(s).exp() * one for s, one in zip(scaled, own, strict=True))
        torch.testing.assert_close(found[row], expected, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(found[row], plain, rtol=0.25, atol=0.25)
