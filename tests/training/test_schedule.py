"""Learning rates and progress, at the points where something changes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.training.budget import TimeBudget
from pathformer.training.schedule import Progress, moment


def test_the_reference_drops_twice_and_starts_anew_each_time() -> None:
    steps = 100
    factors = [moment("reference", step / steps).factor for step in range(steps)]
    phases = [moment("reference", step / steps).phase for step in range(steps)]
    # After the update of step T // 2, and of step 1.5 * (T // 2).
    assert factors == pytest.approx([1.0] * 51 + [0.2] * 25 + [0.04] * 24)
    assert phases == [0] * 51 + [1] * 25 + [2] * 24


def test_cosine_rises_then_falls_to_its_floor() -> None:
    assert moment("cosine", 0.0, warmup=0.1).factor == 0.0
    assert moment("cosine", 0.05, warmup=0.1).factor == pytest.approx(0.5, abs=0.01)
    assert moment("cosine", 0.1, warmup=0.1).factor == pytest.approx(1.0)
    assert moment("cosine", 0.55, warmup=0.1).factor == pytest.approx(0.5)
    assert moment("cosine", 1.0, warmup=0.1, floor=0.1).factor == pytest.approx(0.1)


def test_linear_rises_then_falls_in_a_straight_line() -> None:
    assert moment("linear", 0.05, warmup=0.1).factor == pytest.approx(0.5, abs=0.01)
    assert moment("linear", 0.1, warmup=0.1).factor == pytest.approx(1.0)
    assert moment("linear", 0.325, warmup=0.1).factor == pytest.approx(0.75)
    assert moment("linear", 0.325, warmup=0.1, floor=0.2).factor == pytest.approx(0.8)
    assert moment("linear", 1.0, floor=0.2).factor == pytest.approx(0.2)


def test_constant_stays() -> None:
    assert {moment("constant", p / 10).factor for p in range(11)} == {1.0}


@given(progress=st.floats(0, 1), warmup=st.floats(0, 0.5), floor=st.floats(0, 1))
def test_no_schedule_leaves_its_bounds(progress: float, warmup: float, floor: float) -> None:
    for name in ("reference", "cosine", "linear", "constant"):
        assert 0.0 <= moment(name, progress, warmup, floor).factor <= 1.0 + 1e-12


def test_a_run_of_steps_ignores_time() -> None:
    run = Progress(10, TimeBudget(spent=1e6))
    assert not run.done
    run.step = 5
    assert run.share == 0.5
    run.step = 10
    assert run.done


def test_a_run_with_a_time_ends_at_its_steps_if_they_come_first() -> None:
    assert Progress(10, TimeBudget.of_minutes(60.0), step=10).done


def test_time_left_is_unknown_at_first() -> None:
    assert math.isinf(Progress(10, TimeBudget()).seconds_left)
    assert Progress(100, TimeBudget(spent=30.0, now=lambda: 0.0), step=25).seconds_left == pytest.approx(90.0)


def test_an_update_that_outlasts_the_time_leaves_none() -> None:
    run = Progress(1000, TimeBudget.of_minutes(0.5, spent=47.0, now=lambda: 0.0), step=5)
    assert (run.done, run.seconds_left, run.share > 1.0) == (True, 0.0, True)
