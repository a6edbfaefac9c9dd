"""The sphere: cosines as loops, every way to ask the same, and a temperature that learns."""

from __future__ import annotations

import math

import pytest
import torch

from pathformer.nn.table import Table
from pathformer.spaces.sphere import Sphere


def test_distance_is_one_minus_the_cosine_over_the_temperature() -> None:
    space = Sphere(7, 24.0, temperature=0.1)
    queries, entities = torch.randn(3, 7), torch.randn(5, 7)
    every = space.distance_to_all(queries, entities)
    for q in range(3):
        for e in range(5):
            one, other = queries[q].tolist(), entities[e].tolist()
            product = sum(a * b for a, b in zip(one, other, strict=True))
            loop = 10 * (1 - product / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other)))
            assert every[q, e].item() == pytest.approx(loop, rel=1e-4, abs=1e-5)
            assert space.distance(queries[q], entities[e]).item() == pytest.approx(loop, rel=1e-4, abs=1e-5)


def test_chosen_candidates_products_and_all_entities_agree() -> None:
    space, table = Sphere(7, 24.0), Table(11, 7, -1, 1)
    queries, ids = torch.randn(4, 7), torch.randint(11, (4, 6))
    every = space.distance_to_all(queries, table.weight)
    torch.testing.assert_close(space.distance_to(queries, table.read(), ids), every.gather(1, ids))
    products = space.products(queries, table.weight)
    assert products is not None
    torch.testing.assert_close(20.0 - products[0] @ products[1].t(), every)


def test_lengths_mean_nothing_and_the_temperature_is_trained() -> None:
    space = Sphere(7, 24.0)
    queries, entities = torch.randn(4, 7), torch.randn(5, 7)
    torch.testing.assert_close(
        space.distance_to_all(3 * queries, 0.2 * entities), space.distance_to_all(queries, entities)
    )
    space.distance(queries, queries.flip(0)).sum().backward()
    assert [name for name, _ in space.named_parameters()] == ["log_scale"]
    assert space.log_scale.grad is not None
    assert space.log_scale.grad.item() > 0


def test_a_kept_temperature_has_no_gradient() -> None:
    space = Sphere(7, 24.0, temperature=0.1, learn_temperature=False)
    queries = torch.randn(4, 7, requires_grad=True)
    space.distance(queries, queries.flip(0).detach()).sum().backward()
    assert space.log_scale.grad is None
    assert queries.grad is not None
