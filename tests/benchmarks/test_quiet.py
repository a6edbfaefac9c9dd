"""Times of quiet moments: the quietest windows are kept, each holding as many items as a pass, and others are told."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest


@pytest.fixture
def quiet(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("benchmarks/_quiet.py")


def looks(quiet: ModuleType, monkeypatch: pytest.MonkeyPatch, shares: list[float]) -> None:
    """Windows of one second on two processors, of which others use these shares."""
    wall, busy, made = 0.0, 0.0, []
    for share in shares:
        made += [quiet._Look(wall, busy, 0.0), quiet._Look(wall + 1.0, busy + 2 * share + 0.5, 0.5)]
        wall, busy = wall + 1.0, busy + 2 * share + 0.5
    given = iter(made)
    monkeypatch.setattr(quiet, "_looked", lambda: next(given))
    monkeypatch.setattr(quiet, "os", SimpleNamespace(cpu_count=lambda: 2))


def test_the_quietest_windows_are_kept(quiet: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    looks(quiet, monkeypatch, [0.9, 0.1, 0.0, 0.8])
    clock = iter([0.0, 0.0, 9.0])  # one more pass, then patience ends
    monkeypatch.setattr(quiet, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    asked: list[int] = []

    def work(item: int) -> dict[str, object]:
        asked.append(item)
        return {"it": quiet.Clock(0.001 * (1 + (len(asked) - 1) // 28), 0.002)}  # the window's number, in ms

    found = quiet.quietest(work, list(range(56)), patience=5.0)["it"]
    assert len(asked) == 112
    assert found["median_ms"] == pytest.approx(2.5)  # of the second and the third window
    assert found["others"] == pytest.approx(0.05)
    assert found["processor_ms"] == pytest.approx(2.0)


def test_without_patience_one_pass_is_made_and_all_of_it_counts(
    quiet: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks(quiet, monkeypatch, [0.7])
    asked: list[int] = []
    found = quiet.quietest(lambda item: asked.append(item) or {"it": quiet.Clock(1.0 * item, 0.0)}, [1, 2, 9], 0.0)
    assert asked == [1, 2, 9]
    assert found["it"]["median_ms"] == 2000.0
    assert found["it"]["others"] == pytest.approx(0.7)


def test_work_is_watched(quiet: ModuleType) -> None:
    given, clock = quiet.watch(lambda: sum(range(100_000)))
    assert given == 4_999_950_000
    assert clock.wall > 0
    assert clock.processor > 0


def test_the_machine_says_how_busy_it_was(quiet: ModuleType) -> None:
    before = quiet._busy()
    assert quiet._busy() >= before >= 0
