"""Times of small pieces of work in the moments when other processes leave the machine alone.

Work is done in windows of some items. How busy all processors were in a window, less this process's own time, is what
others used; windows are repeated for as long as patience lasts, and the quietest of them, as many as hold each item
once, give the figures. What others still used in those stands beside them.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Clock", "quietest", "summary", "watch"]

WINDOW = 28  # items: a fifth of a second or more, since the machine counts in hundredths


class Clock(NamedTuple):
    """Seconds by the wall, and of all this process's threads on a processor."""

    wall: float
    processor: float


def watch(work: Callable[[], Any]) -> tuple[Any, Clock]:
    """What work gives, and what it took."""
    wall, processor = time.perf_counter(), time.process_time()
    given = work()
    return given, Clock(time.perf_counter() - wall, time.process_time() - processor)


def quietest(
    work: Callable[[Any], Mapping[str, Clock]], items: Sequence[Any], patience: float
) -> dict[str, dict[str, float]]:
    """`summary` of what work says of each item, from the quietest windows of passes over all, for `patience` seconds.

    At least one pass is made: with no patience all of it counts.
    """
    windows: list[tuple[float, list[Mapping[str, Clock]]]] = []
    until = time.monotonic() + patience
    while not windows or time.monotonic() < until:
        for first in range(0, len(items), WINDOW):
            before = _looked()
            found = [work(item) for item in items[first : first + WINDOW]]
            windows.append((_others(before, _looked()), found))
    windows.sort(key=lambda window: window[0])
    kept = windows[: -(-len(items) // WINDOW)]
    others = statistics.fmean(share for share, _ in kept)
    said = [one for _, found in kept for one in found]
    return {name: summary([one[name] for one in said], others) for name in said[0]}


def summary(clocks: Sequence[Clock], others: float) -> dict[str, float]:
    """Medians in milliseconds, and the share of the machine that others used."""
    walls = [1000 * clock.wall for clock in clocks]
    return {
        "median_ms": statistics.median(walls),
        "p90_ms": float(np.quantile(walls, 0.9)),
        "processor_ms": 1000 * statistics.median(clock.processor for clock in clocks),
        "others": others,
    }


class _Look(NamedTuple):
    wall: float
    busy: float  # seconds of all processors together, by whomever
    own: float


def _looked() -> _Look:
    return _Look(time.monotonic(), _busy(), time.process_time())


def _busy() -> float:
    """Seconds that the processors have worked or been taken away since the start; 0 where no system says so."""
    file = Path("/proc/stat")
    if not file.is_file():
        return 0.0
    user, nice, system, _, _, irq, softirq, steal = map(int, file.read_text().split(maxsplit=9)[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _others(before: _Look, after: _Look) -> float:
    """The share of the machine's time that other processes used between two looks."""
    machine = (os.cpu_count() or 1) * (after.wall - before.wall)
    return max(0.0, (after.busy - before.busy) - (after.own - before.own)) / machine
