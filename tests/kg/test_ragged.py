"""Sets row by row, against Python's own sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.kg.ragged import Ragged, common, difference, select, union

SETS = st.lists(st.tuples(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9))), max_size=5)


def rows_of(found: Ragged) -> list[list[int]]:
    return [found[row].tolist() for row in range(len(found))]


@pytest.mark.parametrize(
    ("made", "by_hand"), [(common, set.intersection), (difference, set.difference), (union, set.union)]
)
@given(pairs=SETS)
def test_rows_are_sets(made, by_hand, pairs: list[tuple[set[int], set[int]]]) -> None:  # type: ignore[no-untyped-def]
    left, right = (Ragged.of([sorted(pair[side]) for pair in pairs]) for side in (0, 1))
    found = made(left, right)
    assert rows_of(found) == [sorted(by_hand(one, other)) for one, other in pairs]
    assert found.ptr.dtype == np.int64
    assert found.values.dtype == np.int32


def test_what_is_marked_stays_in_its_row() -> None:
    rows = Ragged.of([[1, 5, 7], [], [5, 6]])
    assert rows_of(select(rows, rows.values > 5)) == [[7], [], [6]]
    assert rows_of(select(rows, rows.values > 9)) == [[], [], []]
