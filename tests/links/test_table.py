"""The table of links: what a row holds, and that keeping rows changes nothing but who makes them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.errors import InputError
from pathformer.kg.graph import Graph
from pathformer.links import table as links
from pathformer.links.kept_rows import KeptRows
from pathformer.links.table import LinkTable, SparseRows

N, R = 6, 4
TRIPLES = [(0, 0, 1), (0, 0, 2), (3, 2, 3), (4, 0, 1)]
FACTS = Graph.from_triples(np.array(TRIPLES), N, R)
PREDICTED = np.random.default_rng(0).choice(np.array([0, 0.1, 0.2, 0.6], np.float32), (R, N, N))


def predict(heads: np.ndarray, relation: int) -> np.ndarray:
    return PREDICTED[relation][heads]


def expected(head: int, relation: int, threshold: float = 0.0) -> list[float]:
    facts = {*TRIPLES, *((t, r + 1, h) for h, r, t in TRIPLES)}
    kept = [p if p > threshold else 0.0 for p in PREDICTED[relation, head].tolist()]
    return [1.0 if (head, relation, tail) in facts else p for tail, p in enumerate(kept)]


def as_dense(rows: SparseRows) -> list[list[float]]:
    out = [[0.0] * N for _ in range(len(rows.ptr) - 1)]
    for row in range(len(out)):
        for position in range(rows.ptr[row], rows.ptr[row + 1]):
            out[row][rows.tails[position]] = float(rows.probabilities[position])
    return out


@given(
    st.lists(st.tuples(st.integers(0, R - 1), st.lists(st.integers(0, N - 1), max_size=4)), max_size=6),
    st.sampled_from([0.0, 0.15]),
    st.sampled_from([0, 900, 1 << 20]),  # no row is kept, two, all
    st.booleans(),
)
def test_a_row_is_the_same_whatever_was_asked_before(
    asked: list[tuple[int, list[int]]], threshold: float, memory: int, dense: bool
) -> None:
    table = LinkTable(FACTS, predict, threshold=threshold, memory=memory)
    for relation, heads in asked:
        ids = np.array(heads, np.int64)
        rows = table.dense(ids, relation).tolist() if dense else as_dense(table.sparse(ids, relation))
        assert rows == [expected(head, relation, threshold) for head in heads]
        assert table.kept.used <= memory


@pytest.mark.parametrize("threshold", [0.0, 0.15])
def test_rows_are_made_once_while_there_is_memory_for_them(threshold: float, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []

    def noted(heads: np.ndarray, relation: int) -> np.ndarray:
        made.extend((relation, head) for head in heads.tolist())
        return predict(heads, relation)

    monkeypatch.setattr(links, "BLOCK", 4 * N * 2)  # two rows are made at once
    table = LinkTable(FACTS, noted, threshold=threshold)
    for heads in ([0, 1, 2, 3, 4], [4, 5, 0], [5]):
        table.sparse(np.array(heads), 0)
        table.dense(np.array(heads), 0)
    assert made == [(0, head) for head in range(6)]


def test_the_rows_not_asked_for_longest_go_first() -> None:
    made: list[int] = []

    def noted(heads: np.ndarray, relation: int) -> np.ndarray:
        made.extend(heads.tolist())
        return predict(heads, relation)

    table = LinkTable(FACTS, noted, memory=2 * (400 + 4 * N))
    for head in (0, 1, 0, 2, 0, 1):
        table.dense(np.array([head]), 0)
    assert made == [0, 1, 2, 1]
    assert len(table.kept) == 2


def test_a_row_that_two_threads_made_is_kept_once() -> None:
    kept, row = KeptRows(10_000), np.zeros(N, np.float32)
    kept.add(0, [1], [(None, row)])
    used = kept.used
    kept.add(0, [1], [(None, row)])
    assert (len(kept), kept.used) == (1, used)


def test_what_a_caller_does_to_rows_stays_with_the_caller() -> None:
    for threshold in (0.0, 0.15):
        table = LinkTable(FACTS, predict, threshold=threshold)
        for _ in range(3):
            rows = table.dense(np.array([0, 1]), 0)
            assert rows.tolist() == [expected(head, 0, threshold) for head in (0, 1)]
            rows[:] = 7


def test_without_a_predictor_facts_are_the_only_links() -> None:
    table = LinkTable(FACTS)
    assert as_dense(table.sparse(np.array([0, 5]), 0)) == [[0, 1, 1, 0, 0, 0], [0] * N]
    assert table.dense(np.array([1]), 1).tolist() == [[1, 0, 0, 0, 1, 0]]


@pytest.mark.parametrize("relation", range(R))
def test_the_facts_of_a_relation(relation: int) -> None:
    heads, tails = LinkTable(FACTS).facts_of(relation)
    every = {*TRIPLES, *((t, r + 1, h) for h, r, t in TRIPLES)}
    assert sorted(zip(heads.tolist(), tails.tolist(), strict=True)) == sorted(
        (h, t) for h, r, t in every if r == relation
    )


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda heads, relation: np.ones((len(heads), N - 1), np.float32), rf"\(2, {N}\)"),
        (lambda heads, relation: np.full((len(heads), N), 1.5, np.float32), "from 1.5 to 1.5 for relation 3"),
        (lambda heads, relation: np.full((len(heads), N), np.nan, np.float32), "between 0 and 1"),
    ],
)
@pytest.mark.parametrize("threshold", [0.0, 0.15])
def test_a_predictor_that_gives_no_probabilities_is_refused(
    wrong: Callable[[np.ndarray, int], np.ndarray], named: str, threshold: float
) -> None:
    with pytest.raises(InputError, match=named):
        LinkTable(FACTS, wrong, threshold=threshold).sparse(np.array([0, 1]), 3)


def test_a_threshold_that_nothing_passes_is_refused() -> None:
    with pytest.raises(InputError, match="threshold"):
        LinkTable(FACTS, predict, threshold=1.0)
