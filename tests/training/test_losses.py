"""The loss against Eq. 6 written as loops."""

from __future__ import annotations

import math

import pytest
import torch

from pathformer.training.objectives._base import block_means, margin_loss, pairwise_loss, query_weights


def log_sigmoid(x: float) -> float:
    return -math.log1p(math.exp(-x))


def test_margin_loss_is_equation_6() -> None:
    positive, negative = torch.tensor([20.0, 30.0]), torch.tensor([[25.0, 10.0, 40.0], [24.0, 24.0, 24.0]])
    for q, loss in enumerate(margin_loss(positive, negative, 24.0)):
        first = -log_sigmoid(24.0 - positive[q].item())
        second = -sum(log_sigmoid(d - 24.0) for d in negative[q].tolist()) / 3
        assert loss.item() == pytest.approx(first + second, rel=1e-5)


def test_margin_loss_stays_finite_far_from_the_margin() -> None:
    far = torch.tensor([1e4], requires_grad=True)
    loss = margin_loss(far, torch.tensor([[0.0]]), 24.0)
    loss.sum().backward()
    assert loss.item() == pytest.approx(1e4 - 24 + 24)
    assert far.grad is not None
    assert far.grad.item() == 1.0


def test_weights_of_the_reference_code() -> None:
    weights = query_weights(torch.tensor([0, 5, 12]))
    assert weights.tolist() == pytest.approx([math.sqrt(1 / 4), math.sqrt(1 / 9), math.sqrt(1 / 16)])
    assert query_weights(torch.tensor([0, 5, 12]), 0.5).tolist() == pytest.approx([2.0, 3.0, 4.0])


def test_pairwise_loss_is_the_mean_log_odds_of_order() -> None:
    positive, negative = torch.tensor([1.0, 3.0]), torch.tensor([[2.0, 0.5], [3.0, 9.0]])
    for q, loss in enumerate(pairwise_loss(positive, negative)):
        loop = -sum(log_sigmoid(d - positive[q].item()) for d in negative[q].tolist()) / 2
        assert loss.item() == pytest.approx(loop, rel=1e-5)


def test_each_structure_has_its_own_weighted_mean() -> None:
    losses, weights = torch.tensor([1.0, 2.0, 3.0, 10.0]), torch.tensor([0.5, 0.25, 0.25, 0.1])
    means = block_means(losses, weights, [3, 1])
    assert means.tolist() == pytest.approx([(0.5 + 0.5 + 0.75) / 1.0, 10.0])
