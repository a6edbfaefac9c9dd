"""Expected rows against a loop, and their gradients against autograd's."""

from __future__ import annotations

import math

import torch

from pathformer.nn.expectation import expected_rows


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
