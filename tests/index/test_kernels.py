"""Compiled searches against loops that anybody can read."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.twins import l1_distances

from pathformer.compiled import one_thread, share
from pathformer.index._scan import lay_out
from pathformer.index.kernels.bf16 import to_bf16, to_float32
from pathformer.index.kernels.hamming import candidates, differences, pack, threshold_codes
from pathformer.index.kernels.rerank import nearest_of


@given(seed=st.integers(0, 2**31), entities=st.integers(1, 300), points=st.integers(1, 70), words=st.integers(1, 3))
def test_differing_bits_are_counted(seed: int, entities: int, points: int, words: int) -> None:
    rng = np.random.default_rng(seed)
    table, asked = (rng.integers(0, 2**64, (n, words), np.uint64) for n in (entities, points))
    counts = differences(asked, lay_out(table), entities)
    for row in range(0, points, 7):
        for n in range(0, entities, 11):
            assert counts[row, n] == sum(
                (int(a) ^ int(b)).bit_count() for a, b in zip(asked[row], table[n], strict=True)
            )


@given(
    seed=st.integers(0, 2**31), entities=st.integers(1, 200), points=st.integers(1, 70), wanted=st.integers(1, 30),
    kept=st.floats(0, 1),
)  # fmt: skip
def test_candidates_are_those_that_differ_least(
    seed: int, entities: int, points: int, wanted: int, kept: float
) -> None:
    """Codes of few bits make many ties: of equal ones the first."""
    rng = np.random.default_rng(seed)
    table, asked = (rng.integers(0, 8, (n, 1)).astype(np.uint64) for n in (entities, points))
    keep = rng.random(entities) < kept
    found = candidates(asked, lay_out(table), keep, wanted)
    for row in range(points):
        order = sorted(np.flatnonzero(keep), key=lambda n: ((int(asked[row, 0]) ^ int(table[n, 0])).bit_count(), n))
        chosen = sorted(order[:wanted])
        assert found[row].tolist() == chosen + [-1] * (wanted - len(chosen))


def test_a_bit_is_a_coordinate_above_a_threshold() -> None:
    rng = np.random.default_rng(0)
    rows, thresholds = rng.standard_normal((90, 5)).astype(np.float32), rng.standard_normal(128).astype(np.float32)
    dimensions = rng.integers(0, 5, 128)
    bits = rows[:, dimensions] > thresholds
    assert np.array_equal(threshold_codes(rows, dimensions, thresholds), pack(bits))
    assert [int(word) >> b & 1 for word in pack(bits)[3] for b in range(64)] == bits[3].tolist()


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("count", [1, 7, 8, 50])
def test_chosen_entities_are_measured_to_the_bit(half: bool, count: int) -> None:
    rng = np.random.default_rng(count)
    rows, points = rng.standard_normal((60, 333), np.float32), rng.standard_normal((9, 333), np.float32)
    stored = to_bf16(rows) if half else rows
    chosen = np.stack([rng.choice(60, count, replace=False) for _ in range(9)])
    chosen[2, 0] = -1
    ids, distances = nearest_of(points, stored, chosen, 12)
    truth = l1_distances(points, to_float32(stored))
    for row in range(9):
        there = chosen[row][chosen[row] >= 0]
        order = there[np.lexsort((there, truth[row, there]))][:12]
        assert ids[row, : len(order)].tolist() == order.tolist()
        assert distances[row, : len(order)].tolist() == truth[row, order].tolist()
        assert (ids[row, len(order) :] == -1).all()
        assert np.isinf(distances[row, len(order) :]).all()


def test_inner_products_take_their_factors() -> None:
    rng = np.random.default_rng(0)
    stored, points = to_bf16(rng.standard_normal((20, 30), np.float32)), rng.standard_normal((3, 30), np.float32)
    factors, every = np.linspace(0.5, 2.0, 20, dtype=np.float32), np.tile(np.arange(20), (3, 1))
    ids, distances = nearest_of(points, stored, every, 20, factors)
    truth = -points @ to_float32(stored).T * factors
    assert np.allclose(distances, np.sort(truth, axis=1), atol=1e-5)
    assert np.allclose(np.take_along_axis(truth, ids, axis=1), distances, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parts_cover_everything_once(threads: int) -> None:
    seen = np.zeros(10, np.int64)
    parts: list[int] = []

    def work(part: int, first: int, last: int) -> None:
        parts.append(part)
        seen[first:last] += 1

    share(work, 10, threads)
    assert seen.tolist() == [1] * 10
    assert sorted(parts) == list(range(threads))


def test_a_failure_on_another_thread_is_not_lost() -> None:
    def work(part: int, first: int, last: int) -> None:
        if part == 1:
            raise ValueError("part one")

    with pytest.raises(ValueError, match="part one"):
        share(work, 10, 2)


def test_one_thread_alone_and_then_as_many_as_before() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
