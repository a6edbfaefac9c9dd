"""Spaces whose score is an inner product: one vector a query, or several of which the best counts."""

from __future__ import annotations

import pytest
import torch

from pathformer.nn.table import Table
from pathformer.spaces._base import Space
from pathformer.spaces.inner import Inner
from pathformer.spaces.particles import Particles

SPACES = {"inner": Inner(4), "one": Particles(4, 1), "two": Particles(4, 2), "three": Particles(4, 3)}
every_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)


@every_space
def test_distance_by_loops(space: Space) -> None:
    torch.manual_seed(0)
    table, queries = Table(6, 5, -1.0, 1.0), torch.randn(3, space.query_width)
    every = space.distance_to_all(queries, table.weight)
    for q, query in enumerate(queries.tolist()):
        particles = [query[first : first + 4] for first in range(0, len(query), 4)]
        for e, (*vector, bias) in enumerate(table.weight.tolist()):
            best = max(sum(a * b for a, b in zip(particle, vector, strict=True)) for particle in particles)
            assert every[q, e].item() == pytest.approx(-best - bias, abs=1e-5)
            assert space.distance(queries[q], table.weight[e]).item() == pytest.approx(-best - bias, abs=1e-5)
    ids = torch.randint(6, (3, 9))
    for chosen in (ids, ids[:, :1]):
        found = space.distance_to(queries, table.read(), chosen)
        torch.testing.assert_close(found, every.gather(1, chosen), atol=1e-5, rtol=0)


@every_space
def test_tables_start_without_a_preferred_entity(space: Space) -> None:
    torch.manual_seed(0)
    rows = space.entity_table(500).weight
    assert rows.shape == (500, 5)
    assert (rows[:, 4] == 0).all()
    size = rows[:, :4].std().item()
    assert size == pytest.approx(1.0 if isinstance(space, Particles) else 0.5 / 3**0.5, rel=0.1)
    assert space.relation_table(500).weight.std().item() == pytest.approx(size, rel=0.1)
    narrow = Particles(4, 2, spread=0.1)
    assert narrow.entity_table(500).weight[:, :4].std().item() == pytest.approx(0.1, rel=0.1)
    assert narrow.relation_table(500).weight.std().item() == pytest.approx(0.1, rel=0.1)


def test_an_anchor_is_its_vector_or_its_vector_moved_by_each_offset() -> None:
    rows = torch.tensor([[1.0, 2.0, 3.0, 4.0, 99.0]])
    assert SPACES["inner"].anchor(rows).tolist() == [[1.0, 2.0, 3.0, 4.0]]
    space = Particles(4, 2)
    assert space.anchor(rows).tolist() == [[1.0, 2.0, 3.0, 4.0] * 2]
    with torch.no_grad():
        space.offsets[1] = 10.0
    assert space.anchor(rows).tolist() == [[1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 13.0, 14.0]]


def test_factors_give_minus_the_distance() -> None:
    torch.manual_seed(0)
    space, rows, queries = Inner(4), torch.randn(6, 5), torch.randn(3, 4)
    left, right = space.products(queries, rows) or pytest.fail("an inner product is a product")
    torch.testing.assert_close(left @ right.t(), -space.distance_to_all(queries, rows))
