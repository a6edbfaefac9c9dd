"""The rising sequence that probabilities are read off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.links.logistic import pool_adjacent_violators


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 3)), min_size=1, max_size=9))
def test_pooling_gives_the_nearest_rising_sequence(pairs: list[tuple[float, float]]) -> None:
    values, weights = (np.array(column) for column in zip(*pairs, strict=True))
    levels, counts = pool_adjacent_violators(values, weights)
    fitted = np.repeat(levels, counts)
    assert len(fitted) == len(values)
    assert (np.diff(levels) > 0).all()
    assert fitted == pytest.approx(isotonic_by_minmax(values, weights), abs=1e-9)


def isotonic_by_minmax(values: np.ndarray, weights: np.ndarray) -> list[float]:
    """The textbook formula: at i the largest over starts, of the smallest over ends, of the mean from start to end."""

    def mean(first: int, last: int) -> float:
        part = slice(first, last + 1)
        return float(np.average(values[part], weights=weights[part]))

    n = len(values)
    return [max(min(mean(first, last) for last in range(i, n)) for first in range(i + 1)) for i in range(n)]
