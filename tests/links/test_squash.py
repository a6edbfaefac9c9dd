"""Probabilities of raw scores, against their equations one number at a time."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from pathformer.errors import ConfigError
from pathformer.kg.graph import Graph
from pathformer.links.squash import squash

FACTS = Graph.from_triples(np.array([[0, 0, 1], [0, 0, 2], [0, 0, 3], [1, 0, 3]]), 4, 2)
RAW = np.array([[0.0, 1.0, 1.0, -200.0], [3.0, 3.0, 3.0, 3.0], [-1.0, 9.0, 0.0, 200.0]], np.float32)
ROWS = {
    "none": lambda row, known: row,
    "softmax": lambda row, known: [min(0.9999, max(1, known) * exp(s - max(row)) / total(row)) for s in row],
    "sigmoid": lambda row, known: [1 / (1 + exp(-s)) for s in row],
    "min-max": lambda row, known: [(s - min(row)) / ((max(row) - min(row)) or 1) for s in row],
}


def total(row: list[float]) -> float:
    return sum(exp(s - max(row)) for s in row)


@pytest.mark.parametrize("how", ROWS)
def test_rows_follow_their_equation(how: str) -> None:
    rows = squash(lambda heads, relation: RAW[heads], how, FACTS)(np.array([0, 1, 2]), 0)
    assert rows.dtype == np.float32
    for row, raw, known in zip(rows, RAW.tolist(), (3, 1, 0), strict=True):
        assert row == pytest.approx(ROWS[how](raw, known), rel=1e-5, abs=1e-38)


def test_an_unknown_way_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="none, softmax, sigmoid, min-max"):
        squash(lambda heads, relation: RAW[heads], "tanh", FACTS)
