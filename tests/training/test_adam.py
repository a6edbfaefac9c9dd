"""Adam against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from pathformer.training.adam import Adam


def weights() -> dict[str, nn.Parameter]:
    torch.manual_seed(0)
    return {"a": nn.Parameter(torch.randn(4, 3)), "b": nn.Parameter(torch.randn(5))}


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_it_is_torchs_adam(decay: float) -> None:
    ours, theirs = weights(), weights()
    adam = Adam(ours, ours, rate=1e-2, decay=decay)
    twin = torch.optim.AdamW(theirs.values(), lr=1e-2, weight_decay=decay)
    for update in range(5):
        for name in ours:
            grad = torch.randn(ours[name].shape, generator=torch.Generator().manual_seed(update))
            ours[name].grad, theirs[name].grad = grad, grad.clone()
        adam.update()
        twin.step()
        if update == 2:
            adam.set_rate(1e-3)
            twin.param_groups[0]["lr"] = 1e-3
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name])


def test_rates_of_single_weights_and_weights_without_gradient() -> None:
    ours = weights()
    before = {name: weight.detach().clone() for name, weight in ours.items()}
    adam = Adam(ours, ours, rate=1e-2, factors={"a": 3.0})
    ours["a"].grad = torch.ones(4, 3)
    adam.update()
    torch.testing.assert_close(before["a"] - ours["a"], torch.full((4, 3), 3e-2), rtol=1e-4, atol=1e-6)
    assert torch.equal(before["b"], ours["b"])


def test_rates_of_single_rows() -> None:
    """A row moves as it would in a weight that has its rate as a whole, and one that has none stays, decay or not."""
    factors = [1.0, 0.1, 0.0, 3.0]
    ours, twins = weights(), [weights() for _ in factors]
    adam = Adam(ours, ours, rate=1e-2, decay=0.1, factors={"a": torch.tensor(factors)[:, None]})
    others = [
        Adam(twin, twin, rate=1e-2, decay=0.1, factors={"a": one}) for twin, one in zip(twins, factors, strict=True)
    ]
    for update in range(3):
        grad = torch.randn(4, 3, generator=torch.Generator().manual_seed(update))
        for weight, optimiser in zip((ours, *twins), (adam, *others), strict=True):
            weight["a"].grad = grad.clone()
            optimiser.update()
    for row, twin in enumerate(twins):
        torch.testing.assert_close(ours["a"][row], twin["a"][row])
    assert ours["a"][2].equal(weights()["a"][2])
    assert not ours["a"][1].equal(weights()["a"][1])


def test_low_precision_copies_follow_their_masters() -> None:
    masters = weights()
    working = {name: nn.Parameter(weight.detach().bfloat16()) for name, weight in masters.items()}
    adam = Adam(masters, working, rate=1e-4)
    for _ in range(30):
        for weight in working.values():
            weight.grad = torch.ones_like(weight)
        adam.update()
    for name, weight in weights().items():
        torch.testing.assert_close(weight - masters[name], torch.full_like(weight, 30e-4), rtol=1e-2, atol=1e-6)
        assert torch.equal(working[name], masters[name].bfloat16())


def test_reset_forgets_and_load_continues() -> None:
    ours, twin = weights(), weights()
    adam, other = Adam(ours, ours), Adam(twin, twin)
    for _ in range(3):
        for weight in ours.values():
            weight.grad = torch.ones_like(weight)
        adam.update()
    saved = {name: tensor.clone() for name, tensor in adam.state().items()}
    assert set(saved) == {"steps", "first.a", "first.b", "second.a", "second.b"}
    other.load(saved)
    assert other.steps.item() == 3
    assert torch.equal(other.slots[1].second, adam.slots[1].second)
    adam.reset()
    assert adam.steps.item() == 0
    assert not any(slot.first.any() or slot.second.any() for slot in adam.slots)
    adam.clear()
    assert all(weight.grad is None for weight in ours.values())


def test_spared_weights_do_not_decay() -> None:
    ours = weights()
    before = {name: weight.detach().clone() for name, weight in ours.items()}
    adam = Adam(ours, ours, rate=1e-2, decay=0.5, spared=["b"])
    for weight in ours.values():
        weight.grad = torch.zeros_like(weight)
    adam.update()
    torch.testing.assert_close(ours["a"].detach(), before["a"] * (1 - 1e-2 * 0.5))
    assert torch.equal(ours["b"], before["b"])


@pytest.mark.parametrize("low", [False, True])
def test_kept_weights_have_no_moments_and_follow_their_masters_when_a_state_is_taken_up(low: bool) -> None:
    masters = weights()
    copies = {name: nn.Parameter(weight.detach().bfloat16()) for name, weight in masters.items()}
    working = copies if low else masters
    working["a"].requires_grad_(False)
    adam = Adam(masters, working, rate=1e-2, decay=0.5)
    before = masters["a"].detach().clone()
    working["b"].grad = torch.ones_like(working["b"])
    adam.update()
    assert torch.equal(masters["a"], before)
    assert not torch.equal(masters["b"], weights()["b"])
    state = {name: tensor.clone() for name, tensor in adam.state().items()}
    assert set(state) == {"steps", "first.b", "second.b"}
    with torch.no_grad():
        masters["a"].mul_(2.0)
    adam.twin().load(state)
    assert torch.equal(working["a"], (2.0 * before).to(working["a"].dtype))
    adam.reset()
    adam.clear()
    assert adam.steps.item() == 0


def test_where_all_is_kept_nothing_moves() -> None:
    ours = weights()
    for weight in ours.values():
        weight.requires_grad_(False)
    adam = Adam(ours, ours, rate=1e-2)
    adam.update()
    assert list(adam.state()) == ["steps"]
    assert all(torch.equal(ours[name], weight) for name, weight in weights().items())
