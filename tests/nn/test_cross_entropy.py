"""Cross-entropy and expected rows against loops; their products against autograd of the plain lines."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from pathformer.nn import cross_entropy as module
from pathformer.nn.cross_entropy import cross_entropy, expected_rows, product_cross_entropy

ROWS, COLUMNS, WIDTH, TARGETS = 5, 11, 4, 3


def problem() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    chance = torch.Generator().manual_seed(0)
    left = torch.randn(ROWS, WIDTH, generator=chance, dtype=torch.float64, requires_grad=True)
    right = torch.randn(COLUMNS, WIDTH, generator=chance, dtype=torch.float64, requires_grad=True)
    targets = torch.stack([torch.randperm(COLUMNS, generator=chance)[:TARGETS] for _ in range(ROWS)])
    shares = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
    return left, right, targets, shares


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_it_is_the_loop(smoothing: float) -> None:
    left, right, targets, shares = problem()
    logits = (left @ right.t()).float()
    for row, loss in enumerate(cross_entropy(logits, targets, shares, smoothing)):
        values = logits[row].tolist()
        whole = sum(math.exp(value) for value in values)
        wanted = [smoothing / COLUMNS] * COLUMNS
        for target, share in zip(targets[row].tolist(), shares[row].tolist(), strict=True):
            wanted[target] += (1 - smoothing) * share
        loop = -sum(t * math.log(math.exp(v) / whole) for t, v in zip(wanted, values, strict=True))
        assert loss.item() == pytest.approx(loop, rel=1e-4)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("part", [1 << 28, 2 * COLUMNS + 10])  # all rows at once and kept; two and recomputed
@pytest.mark.parametrize("padded", [False, True])
def test_the_product_form_has_the_same_loss_and_gradients(
    monkeypatch: pytest.MonkeyPatch, smoothing: float, part: int, padded: bool
) -> None:
    monkeypatch.setattr(module, "PART", part)
    if padded:
        monkeypatch.setattr(module, "pad_rows", lambda rows: torch.nn.functional.pad(rows, (0, 0, 0, 5)))
    upstream = torch.linspace(-1, 2, ROWS)
    found = []
    for form in (False, True):
        left, right, targets, shares = problem()
        if form:
            losses = product_cross_entropy(left, right, targets.int(), shares, smoothing)
        else:
            losses = cross_entropy((left @ right.t()).float(), targets, shares, smoothing)
        (losses * upstream).sum().backward()
        found.append((losses.detach().float(), left.grad, right.grad))
    for plain, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-6, check_dtype=False)


MORE = (
    torch.tensor([[3, 7], [0, 0], [10, 4], [1, 2], [5, 6]]),
    torch.tensor([[9.0, 2.0], [0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [0.5, 100.0]]),
)


def test_columns_may_count_more_often_than_once() -> None:
    left, right, targets, shares = problem()
    logits = (left @ right.t()).float()
    found = cross_entropy(logits, targets, shares, more=MORE)
    for row, loss in enumerate(found):
        values = logits[row].tolist()
        often = [1.0] * COLUMNS
        for column, times in zip(MORE[0][row].tolist(), MORE[1][row].tolist(), strict=True):
            often[column] += times
        whole = math.log(sum(n * math.exp(value) for n, value in zip(often, values, strict=True)))
        wanted = sum(s * values[t] for t, s in zip(targets[row].tolist(), shares[row].tolist(), strict=True))
        assert loss.item() == pytest.approx(whole - wanted, rel=1e-4)
    assert torch.equal(found[1], cross_entropy(logits, targets, shares)[1])  # none of its columns counts more


@pytest.mark.parametrize("part", [1 << 28, 2 * COLUMNS + 10])
def test_the_product_form_counts_them_too(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(module, "PART", part)
    found = []
    for form in (False, True):
        left, right, targets, shares = problem()
        if form:
            losses = product_cross_entropy(left, right, targets, shares, 0.2, MORE)
        else:
            losses = cross_entropy((left @ right.t()).float(), targets, shares, 0.2, MORE)
        (losses * torch.linspace(-1, 2, ROWS)).sum().backward()
        found.append((losses.detach().float(), left.grad, right.grad))
    for plain, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-6, check_dtype=False)


@pytest.mark.parametrize("part", [1 << 28, 2 * COLUMNS])
def test_columns_that_are_kept_as_they_are_cost_no_product(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(module, "PART", part)
    spent, found = [], []
    for moved in (True, False):
        left, right, targets, shares = problem()
        right.requires_grad_(moved)
        losses = product_cross_entropy(left, right, targets, shares).sum()
        with FlopCounterMode(display=False) as counter:
            losses.backward()
        assert (right.grad is not None) is moved
        spent.append(counter.get_total_flops())
        found.append(left.grad)
    assert spent[0] - spent[1] == 2 * ROWS * COLUMNS * WIDTH
    assert found[0] is not None
    assert found[1] is not None
    assert torch.equal(found[0], found[1])


def test_large_logits_stay_finite() -> None:
    left, right = torch.full((1, 1), 1e3, requires_grad=True), torch.tensor([[1.0], [-1.0]])
    loss = product_cross_entropy(left, right, torch.tensor([[1]]), torch.ones(1, 1))
    loss.sum().backward()
    assert loss.item() == pytest.approx(2e3)
    assert left.grad is not None
    assert left.grad.item() == pytest.approx(2.0)


def factors() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    chance = torch.Generator().manual_seed(0)
    left, right, rows = (torch.randn(n, k, generator=chance).double() for n, k in ((4, 3), (7, 3), (7, 5)))
    return left.requires_grad_(), right.requires_grad_(), rows.requires_grad_()


def test_they_are_means_of_rows_each_as_often_as_its_product_says() -> None:
    left, right, rows = (part.detach().float() for part in factors())
    found = expected_rows(left, right, rows)
    for query, row in zip(left.tolist(), found, strict=True):
        sizes = [math.exp(sum(a * b for a, b in zip(query, other, strict=True))) for other in right.tolist()]
        mean = sum(size * other for size, other in zip(sizes, rows, strict=True)) / sum(sizes)
        torch.testing.assert_close(row, mean)


def test_gradients_are_those_of_the_plain_lines() -> None:
    parts = factors()
    weights = torch.randn(4, 5, generator=torch.Generator().manual_seed(1)).double()
    (expected_rows(*parts) * weights).sum().backward()
    found = [part.grad.clone() for part in parts if part.grad is not None]
    for part in parts:
        part.grad = None
    left, right, rows = parts
    ((left @ right.t()).softmax(dim=1) @ rows * weights).sum().backward()
    for gradient, part in zip(found, parts, strict=True):
        torch.testing.assert_close(gradient.float(), part.grad.float(), rtol=1e-4, atol=1e-5)  # type: ignore[union-attr]


def test_large_products_do_not_overflow() -> None:
    left, right, rows = torch.tensor([[400.0]]), torch.tensor([[-1.0], [1.0], [0.5]]), torch.eye(3)
    torch.testing.assert_close(expected_rows(left, right, rows), torch.tensor([[0.0, 1.0, 0.0]]))
