"""One clock: what is spent, what is left, what a part may take; pauses and earlier sittings."""

from __future__ import annotations

import math
from contextlib import suppress

import pytest

from pathformer.training.budget import TimeBudget


@pytest.fixture
def now() -> list[float]:
    return [100.0]


def test_it_runs_down_and_adds_up_over_sittings(now: list[float]) -> None:
    budget = TimeBudget.of_minutes(2.0, spent=60.0, now=lambda: now[0])
    now[0] = 130.0
    assert (budget.spent, budget.left, budget.progress) == (90.0, 30.0, 0.75)
    now[0] = 999.0
    assert (budget.left, budget.progress > 1.0) == (0.0, True)


def test_without_a_limit_time_is_counted_all_the_same(now: list[float]) -> None:
    budget = TimeBudget(now=lambda: now[0])
    now[0] = 103.0
    assert (budget.spent, budget.left, budget.progress) == (3.0, math.inf, 0.0)
    assert (budget.part(0.5), budget.next_of(3), budget.first(0.2).seconds) == (None, None, None)


def test_a_pause_stands_still_even_if_it_is_interrupted(now: list[float]) -> None:
    budget = TimeBudget(60.0, now=lambda: now[0])
    now[0] = 130.0
    with suppress(KeyboardInterrupt), budget.pause():
        now[0] = 999.0
        assert (budget.spent, budget.progress) == (30.0, 0.5)
        raise KeyboardInterrupt
    now[0] = 1014.0
    assert budget.spent == 45.0


def test_parts_share_what_is_left(now: list[float]) -> None:
    budget = TimeBudget(100.0, now=lambda: now[0])
    now[0] = 110.0
    first = budget.first(0.2)
    assert (first.seconds, first.spent, first.next_of(5)) == (20.0, 10.0, 2.0)
    now[0] = 150.0
    assert (first.next_of(4), budget.next_of(0), budget.part(0.15)) == (0.0, 50.0, 15.0)
