"""The features of a row against plain loops: shares, and ranks with ties."""

from __future__ import annotations

import numpy as np
import pytest

from pathformer.kg.graph import Graph
from pathformer.links import mixing
from pathformer.links.evidence._base import Evidence, Ids, Scores
from pathformer.links.mixing import features


class Fixed(Evidence):
    """Says of every head the same."""

    name, sharpness = "fixed", 3.0

    def __init__(self, row: Scores) -> None:
        self.row = row

    def rows(self, heads: Ids, relation: int) -> Scores:
        return np.broadcast_to(self.row, (len(heads), len(self.row)))

    def on(self, graph: Graph) -> Fixed:
        raise NotImplementedError

    def save(self, folder: object) -> None:
        raise NotImplementedError

    @classmethod
    def open(cls, folder: object, graph: Graph, encoder: object) -> Fixed:
        raise NotImplementedError


def slow_features(row: Scores, barred: Ids, sharpness: float, deep: int) -> np.ndarray:
    """Share and rank of each entity, one by one."""
    free = [t for t in range(len(row)) if t not in barred]
    total = sum(np.exp(sharpness * row[t]) for t in free)
    said = np.full((len(row), 2), (-np.inf, -np.log1p(deep)))
    for t in free:
        better, equal = sum(row[o] > row[t] for o in free), sum(row[o] == row[t] for o in free)
        rank = better + (equal + 1) / 2 if better + equal <= deep else deep
        said[t] = np.log(np.exp(sharpness * row[t]) / total), -np.log1p(rank)
    return said


@pytest.mark.parametrize("deep", [1, 7, 20, 1000])
@pytest.mark.parametrize("values", [2, 9, 1000])
def test_as_plain_loops(monkeypatch: pytest.MonkeyPatch, deep: int, values: int) -> None:
    monkeypatch.setattr(mixing, "DEEP", deep)
    rng = np.random.default_rng(deep + values)
    row = (rng.integers(0, values, 60) / values).astype(np.float32)
    barred = [rng.choice(60, 5, replace=False), np.zeros(0, np.int64), np.arange(60)]
    found = features([Fixed(row)], np.arange(3), 0, barred)
    for one, none in zip(found, barred, strict=True):
        np.testing.assert_allclose(one.values, slow_features(row, none, 3.0, min(deep, 60)), rtol=1e-4)
