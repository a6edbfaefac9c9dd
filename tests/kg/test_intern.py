"""Numbers of names do not depend on how the rows were cut into batches."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pathformer.kg import intern
from pathformer.kg.arrow import strings
from pathformer.kg.intern import Interner

rows = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefghijkl")), max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, rows, st.integers(1, 7), st.integers(0, 9))
def test_against_a_dictionary(
    monkeypatch: pytest.MonkeyPatch, first: list[tuple[str, str]], later: list[tuple[str, str]], size: int, wait: int
) -> None:
    monkeypatch.setattr(intern, "_WAIT", wait)
    interner, numbers = Interner(2), {}
    for head, tail in first:
        numbers.setdefault(head, len(numbers))
        numbers.setdefault(tail, len(numbers))
    for part in (first, later):
        for start in range(0, len(part), size):
            interner.add(*(strings(column) for column in zip(*part[start : start + size], strict=True)))
        heads, tails = interner.take()
        assert heads.tolist() == [numbers.get(head, -1) for head, _ in part]
        assert tails.tolist() == [numbers.get(tail, -1) for _, tail in part]
        assert interner.names.to_pylist() == list(numbers)
