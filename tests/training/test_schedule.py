"""Learning rates and progress, at the points where something changes."""

from __future__ import annotations

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathformer.training.schedule import Clock, moment


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


def test_a_clock_of_steps_ignores_time() -> None:
    time = iter(range(0, 10**6, 1000))
    clock = Clock(10, now=lambda: float(next(time)))
    assert not clock.done
    clock.step = 5
    assert clock.progress == 0.5
    clock.step = 10
    assert clock.done


def test_a_time_box_follows_the_clock_and_adds_up_over_interruptions() -> None:
    moments = iter([100.0, 130.0, 130.0, 161.0])
    clock = Clock(10**9, minutes=2.0, seconds=60.0, now=lambda: next(moments))  # a minute was spent before
    assert clock.progress == pytest.approx(0.75, abs=1e-6)
    assert clock.seconds == pytest.approx(90.0)
    assert clock.done


def test_a_time_box_ends_at_its_steps_if_they_come_first() -> None:
    clock = Clock(10, minutes=60.0, step=10)
    assert clock.done


def test_time_left_is_unknown_at_first() -> None:
    assert math.isinf(Clock(10).left)
    moments = iter([0.0, 30.0, 30.0])
    clock = Clock(100, step=25, now=lambda: next(moments))
    assert clock.left == pytest.approx(90.0)


def test_a_clock_that_is_held_stands_still_and_goes_on_from_there() -> None:
    now = [100.0]
    clock = Clock(10**9, minutes=1.0, now=lambda: now[0])
    now[0] = 130.0
    with suppress(KeyboardInterrupt), clock.held():
        now[0] = 999.0
        assert (clock.seconds, clock.progress, clock.done) == (30.0, 0.5, False)
        raise KeyboardInterrupt
    now[0] = 1014.0
    assert clock.seconds == 45.0
