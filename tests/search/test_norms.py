"""T-norms: their laws, and what a certain part does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.search_twin import BOTH, EITHER

from pathformer.search.kernels.hops import both
from pathformer.search.norms import NORMS

BELIEFS = st.floats(0, 1, width=32)


@pytest.mark.parametrize("name", NORMS)
@given(a=BELIEFS, b=BELIEFS)
def test_they_follow_their_equations(name: str, a: float, b: float) -> None:
    norm, one, other = NORMS[name], np.float32(a), np.float32(b)
    assert norm.both(np, one, other) == pytest.approx(BOTH[name](a, b), abs=1e-6)
    assert norm.either(np, one, other) == pytest.approx(EITHER[name](a, b), abs=1e-6)
    assert both(norm.code, one, other) == norm.both(np, one, other)  # compiled
    assert 0 <= norm.either(np, one, other) <= 1


@pytest.mark.parametrize("name", NORMS)
@given(a=BELIEFS)
def test_a_certain_part_changes_nothing_to_the_last_bit(name: str, a: float) -> None:
    norm, belief = NORMS[name], np.float32(a)
    for certain, impossible in ((np.float32(1), np.float32(0)),):
        assert norm.both(np, belief, certain) == norm.both(np, certain, belief) == belief
        assert norm.either(np, belief, impossible) == norm.either(np, impossible, belief) == belief
        assert norm.either(np, belief, certain) == norm.either(np, certain, belief) == 1
