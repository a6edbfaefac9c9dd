"""C^r as 2 r numbers, against complex arithmetic."""

from __future__ import annotations

import pytest
import torch

from pathformer.spaces.hermitian import Hermitian, conjugate, cubes, multiply


def test_products_conjugates_and_cubes_are_those_of_complex_numbers() -> None:
    one, other = torch.randn(3, 8), torch.randn(3, 8)
    x, y = (torch.complex(rows[:, :4], rows[:, 4:]) for rows in (one, other))
    torch.testing.assert_close(multiply(one, other), torch.cat([(x * y).real, (x * y).imag], dim=1))
    torch.testing.assert_close(conjugate(one), torch.cat([x.conj().real, x.conj().imag], dim=1))
    torch.testing.assert_close(cubes(one), (x.abs() ** 3).sum(dim=1))


def test_scores_start_small_but_not_at_nothing() -> None:
    torch.manual_seed(0)
    for rank in (4, 1000):
        space = Hermitian(rank)
        rows = space.entity_table(2000).weight.detach()
        assert rows.shape == (2000, 2 * rank)
        links = multiply(rows[:600], space.relation_table(600).weight.detach())
        scores = space.distance(links, rows[600:1200])
        assert scores.std().item() == pytest.approx(0.1, rel=0.3)


def test_products_are_minus_the_distances() -> None:
    space = Hermitian(4)
    queries, entities = torch.randn(3, 8), torch.randn(5, 8)
    products = space.products(queries, entities)
    assert products is not None
    torch.testing.assert_close(-(products[0] @ products[1].t()), space.distance_to_all(queries, entities))
