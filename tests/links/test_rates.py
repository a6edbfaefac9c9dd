"""The table of rates against a count by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pathformer.links.rates import Rates


def test_rates_are_counts_drawn_to_those_of_all_relations() -> None:
    draw = np.random.default_rng(0)
    relation, rank = draw.integers(0, 3, 200), draw.integers(1, 5, 200)
    right = draw.random(200) < 0.4 / rank
    read = Rates.from_json(json.loads(json.dumps(Rates.fit(relation, rank, right).to_json())))
    for one in range(3):
        for k in range(1, 5):
            here = [y for y, r, place in zip(right, relation, rank, strict=True) if (r, place) == (one, k)]
            common = np.mean([y for y, place in zip(right, rank, strict=True) if place == k])
            rate = (sum(here) + 4 * common) / (len(here) + 4)
            assert read.probabilities(np.array([one]), np.array([k])) == pytest.approx(rate)
            assert read.probabilities(np.array([7]), np.array([k])) == pytest.approx(common)
    assert read.probabilities(np.array([0]), np.array([9])) == read.probabilities(np.array([0]), np.array([4]))


@pytest.mark.parametrize("table", [{}, {"common": [], "own": {}}, {"common": [0.5], "own": {"1": [0.1, 0.2]}}])
def test_anything_else_is_no_table(table: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"common|table of rates"):
        Rates.from_json(table)
