"""The point space: Eq. 5 as a loop, and every way to ask for it the same."""

from __future__ import annotations

import pytest
import torch

from pathformer.nn.table import Table
from pathformer.spaces.point import Point


def test_distance_is_the_l1_norm() -> None:
    space = Point(7, 24.0)
    queries, entities = torch.randn(3, 7), torch.randn(5, 7)
    every = space.distance_to_all(queries, entities)
    for q in range(3):
        for e in range(5):
            loop = sum(abs(a - b) for a, b in zip(queries[q].tolist(), entities[e].tolist(), strict=True))
            assert every[q, e].item() == pytest.approx(loop, rel=1e-5)
            assert space.distance(queries[q], entities[e]).item() == pytest.approx(loop, rel=1e-5)


def test_chosen_candidates_and_all_entities_agree() -> None:
    space, table = Point(7, 24.0), Table(11, 7, -1, 1)
    queries = torch.randn(4, 7)
    ids = torch.randint(11, (4, 6))
    chosen = space.distance_to(queries, table.read(), ids)
    every = space.distance_to_all(queries, table.weight)
    torch.testing.assert_close(chosen, every.gather(1, ids))
    torch.testing.assert_close(space.distance_to_all(queries, table.weight, chunk=1), every)


def test_tables_start_in_the_range_of_the_reference_code() -> None:
    space = Point(800, 24.0)
    assert space.range == pytest.approx(26 / 800)
    for table in (space.entity_table(40), space.relation_table(40)):
        assert table.weight.shape == (40, 800)
        assert 0.99 * 26 / 800 < table.weight.abs().max().item() <= 26 / 800
    assert not list(space.parameters())
    assert torch.equal(space.regularize(queries := torch.randn(2, 800)), queries)
