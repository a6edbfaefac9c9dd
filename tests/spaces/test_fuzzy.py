"""Fuzzy sets: the laws of their logics, the regulariser, and the distance as a loop."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pathformer.nn.table import Table
from pathformer.spaces.fuzzy import CONJUNCTIONS, DISJUNCTIONS, Fuzzy, negation

LOGICS = tuple(CONJUNCTIONS)
degrees = st.floats(0, 1, width=32)


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("logic", LOGICS)
@given(values=st.tuples(degrees, degrees, degrees))
def test_the_laws_of_a_logic(logic: str, values: tuple[float, float, float]) -> None:
    x, y, z = (torch.tensor(value) for value in values)
    both, either = CONJUNCTIONS[logic], DISJUNCTIONS[logic]
    one, nothing = torch.ones(()), torch.zeros(())
    for combine, neutral in ((both, one), (either, nothing)):
        assert close(combine(x, y), combine(y, x))
        assert close(combine(combine(x, y), z), combine(x, combine(y, z)))
        assert close(combine(x, neutral), x)
        assert 0 <= combine(x, y) <= 1
    assert both(x, y) <= torch.minimum(x, y) + 1e-6
    assert either(x, y) >= torch.maximum(x, y) - 1e-6
    assert close(either(x, y), negation(both(negation(x), negation(y))))  # De Morgan
    assert close(negation(negation(x)), x)


@pytest.mark.parametrize(
    ("logic", "conjunction", "disjunction"),
    [("goedel", 0.4, 0.7), ("product", 0.28, 0.82), ("lukasiewicz", 0.1, 1.0)],
)
def test_each_logic_is_its_own(logic: str, conjunction: float, disjunction: float) -> None:
    x, y = torch.tensor(0.4), torch.tensor(0.7)
    assert CONJUNCTIONS[logic](x, y).item() == pytest.approx(conjunction)
    assert DISJUNCTIONS[logic](x, y).item() == pytest.approx(disjunction)


def test_regularisers() -> None:
    rows = torch.tensor([-0.5, 0.0, 0.25, 0.5, 1.0, 3.0])
    assert Fuzzy(6, regularizer="clamp").regularize(rows).tolist() == [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]
    soft = Fuzzy(6, regularizer="sigmoid")
    expected = [1 / (1 + math.exp(4 - 8 * row)) for row in rows.tolist()]
    assert soft.regularize(rows).tolist() == pytest.approx(expected)
    assert sorted(name for name, _ in soft.named_parameters()) == ["shift", "slope"]
    assert not list(Fuzzy(6, regularizer="clamp").parameters())


@pytest.mark.parametrize("regularizer", ["sigmoid", "clamp"])
def test_distance_by_loops(regularizer: str) -> None:
    torch.manual_seed(0)
    space, table = Fuzzy(5, 20.0, regularizer), Table(7, 5, 0.0, 1.0)  # type: ignore[arg-type]
    queries, ids = torch.rand(3, 5), torch.randint(7, (3, 40))
    every = space.distance_to_all(queries, table.weight)
    for q, query in enumerate(queries.tolist()):
        for e, row in enumerate(table.weight.tolist()):
            member = [min(1.0, max(0.0, x)) if regularizer == "clamp" else 1 / (1 + math.exp(4 - 8 * x)) for x in row]
            product = sum(a * b for a, b in zip(query, member, strict=True))
            lengths = math.hypot(*query) * math.hypot(*member)
            assert every[q, e].item() == pytest.approx(20 * (1 - product / lengths), abs=1e-4)
            assert space.distance(queries[q], table.weight[e]).item() == pytest.approx(every[q, e].item(), abs=1e-4)
    torch.testing.assert_close(space.distance_to(queries, table.read(), ids), every.gather(1, ids), atol=1e-4, rtol=0)
    few = space.distance_to(queries, table.read(), ids[:, :2])  # fewer candidates than entities: another way there
    torch.testing.assert_close(few, every.gather(1, ids[:, :2]), atol=1e-4, rtol=0)


def test_entities_start_inside() -> None:
    space = Fuzzy(30)
    rows = space.entity_table(100).weight
    assert 0 <= rows.min() < 0.01 < 0.99 < rows.max() <= 1
    torch.testing.assert_close(space.anchor(rows), space.regularize(rows))
    assert space.margin == 10.0
