"""The rising sequence that probabilities are read off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.links.logistic import fit_steps, pool_adjacent_violators


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


def test_rare_truth_has_low_levels_that_are_not_zero() -> None:
    """Of 10,000 the 10 highest are right: the levels add up to that, and what is never right is unlikely, not false."""
    z = np.arange(10_000.0)
    steps, levels = fit_steps(z, (z >= 9_990).astype(np.float64))
    assert 0 < levels[0] < 1e-4
    assert np.interp(z, steps, levels).sum() == pytest.approx(10, rel=0.3)
