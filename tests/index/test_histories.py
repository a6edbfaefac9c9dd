"""Any history of additions, removals, filters and saves: every backend keeps to what a plain list would say."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from pathformer import plugins
from pathformer.index._base import build, load
from pathformer.index.kernels.bf16 import to_bf16, to_float32

WIDTH = 6
OPTIONS = {"exact": {}, "lsh": {"bits": 128}, "hnsw": {"links": 8}}
MEASURES = ("l1", "cosine", "inner")
SEEDS = st.integers(0, 2**31)


class History(RuleBasedStateMachine):
    """An index beside the rows that it was given, and the ids that are still there."""

    backend: str

    def __init__(self) -> None:
        super().__init__()
        self.found, self.wanted = 0, 0  # of the truly nearest

    @initialize(seed=SEEDS, count=st.integers(1, 200), measure=st.sampled_from(MEASURES), half=st.booleans())
    def start(self, seed: int, count: int, measure: str, half: bool) -> None:
        self.measure = measure
        self.half = half
        self.rows = self.drawn(seed, count)
        self.alive = np.ones(count, np.bool_)
        self.index = build(self.backend, self.rows, measure, **OPTIONS[self.backend])

    def drawn(self, seed: int, count: int) -> np.ndarray:
        """Rows in few places, so that some are equal."""
        rng = np.random.default_rng(seed)
        rows = rng.integers(-9, 10, (count, WIDTH)).astype(np.float32)
        return to_bf16(rows) if self.half else rows

    @rule(seed=SEEDS, count=st.integers(1, 150))
    def add(self, seed: int, count: int) -> None:
        new, before = self.drawn(seed, count), len(self.rows)
        assert self.index.add(new).tolist() == list(range(before, before + count))
        self.rows = np.concatenate([self.rows, new])
        self.alive = np.concatenate([self.alive, np.ones(count, np.bool_)])

    @precondition(lambda self: self.alive.any())
    @rule(seed=SEEDS, share=st.sampled_from([0.01, 0.3, 0.97]))
    def remove(self, seed: int, share: float) -> None:
        gone = np.random.default_rng(seed).random(len(self.alive)) < share
        self.index.remove(np.flatnonzero(gone))
        self.alive &= ~gone

    @rule()
    def save_and_open(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.index.save(Path(folder) / "index")
            self.index = load(Path(folder) / "index")

    @rule(seed=SEEDS, k=st.integers(1, 30), share=st.sampled_from([None, 0.02, 0.5]))
    def search(self, seed: int, k: int, share: float | None) -> None:
        rng = np.random.default_rng(seed)
        points = rng.normal(0, 5, (3, WIDTH)).astype(np.float32)
        allowed = None if share is None else rng.random(len(self.alive)) < share
        keep = self.alive if allowed is None else self.alive & allowed
        ids, distances = self.index.nearest(points, k, allowed)
        truth = np.where(keep, self.distances(points), np.inf)
        assert ids.shape == distances.shape == (3, k)
        for row in range(3):
            self.check(ids[row], distances[row], truth[row], keep, k)

    def check(self, ids: np.ndarray, distances: np.ndarray, truth: np.ndarray, keep: np.ndarray, k: int) -> None:
        """One point's answer: kept ids once each, by true distances in order, then -1 and inf; how many of the best."""
        count = int((ids >= 0).sum())
        there, best = ids[:count], np.sort(truth)[: min(k, int(keep.sum()))]
        assert (ids[count:] == -1).all()
        assert np.isinf(distances[count:]).all()
        assert keep[there].all()
        assert len(set(there.tolist())) == count
        assert np.allclose(distances[:count], truth[there], atol=1e-4)
        assert (np.diff(distances[:count]) >= 0).all()
        if self.backend != "hnsw":  # whose walks may end early
            assert count == len(best)
        if self.backend == "exact":
            assert np.allclose(distances[:count], best, atol=1e-4)
        self.wanted += len(best)
        self.found += int((truth[there] <= best[-1] + 1e-4).sum()) if len(best) else 0

    def distances(self, points: np.ndarray) -> np.ndarray:
        p, e = points.astype(np.float64), to_float32(self.rows).astype(np.float64)
        if self.measure == "l1":
            return np.abs(p[:, None] - e).sum(-1)
        if self.measure == "inner":
            return -p @ e.T
        lengths = np.maximum(np.linalg.norm(e, axis=1), 1e-12)
        return 1.0 - p @ e.T / np.linalg.norm(p, axis=1)[:, None] / lengths

    @rule()
    def count(self) -> None:
        assert (len(self.index), self.index.rows) == (int(self.alive.sum()), len(self.rows))
        assert self.index.removed.tolist() == np.flatnonzero(~self.alive).tolist()

    def teardown(self) -> None:
        assert self.found >= 0.9 * self.wanted - 10  # recall, where much was asked


@pytest.mark.parametrize("backend", plugins.names("indexes"))
def test_any_history(backend: str) -> None:
    machine = type(f"History_{backend}", (History,), {"backend": backend})
    run_state_machine_as_test(machine, settings=settings(max_examples=25, stateful_step_count=12, deadline=None))
