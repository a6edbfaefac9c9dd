"""What the levers of `benchmarks/levers.py` start from: trained once for all that ask for the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from _levers import Lever

from pathformer.experiments.settings import Run, run_names

Start = tuple[str, ...]  # a run file, and settings on top of it
_OF_START = ("start=", "start.", "start_minutes=", "start_members=")


def with_start(lever: Lever, run: Run) -> Lever:
    """A lever that says where it starts, where its run does; one that says so itself has nothing of its run's."""
    if not run.start or _said(lever, "start"):
        return lever
    said = {
        "start": run.start,
        **({} if run.start_minutes is None else {"start_minutes": run.start_minutes}),
        **({} if run.start_members == 1 else {"start_members": run.start_members}),
    }
    own = tuple(f"{name}={value}" for name, value in said.items() if not _said(lever, name))
    return replace(lever, settings=(*lever.settings, *own))


def starts_of(lever: Lever) -> list[Start]:
    """What a lever starts from, if that is to be trained: `start=RUN`, for that run's settings `start.key=value`."""
    found = _said(lever, "start")
    if found not in run_names() and not found.endswith(".toml"):
        return []
    own = [s.removeprefix("start.") for s in lever.settings if s.startswith("start.")]
    own += [f"training.minutes={minutes}" for minutes in [_said(lever, "start_minutes")] if minutes not in ("", "none")]
    members = int(_said(lever, "start_members") or 1)
    seeds = [[f"training.seed={number}"] for number in range(members)] if members > 1 else [[]]
    return [(found, *own, *seed) for seed in seeds]


def started(lever: Lever, places: Mapping[Start, Path]) -> list[str]:
    """A lever's settings, starting from what was trained for all; its run takes that as it is."""
    where = ",".join(str(places[key]) for key in starts_of(lever)) or _said(lever, "start")
    if not where:
        return list(lever.settings)
    own = [setting for setting in lever.settings if not setting.startswith(_OF_START)]
    return [*own, f"start={where}", "start_minutes=none", "start_members=1"]


def _said(lever: Lever, name: str) -> str:
    """The value of a setting of a lever, the last one's; empty: it says nothing of it."""
    return next((s.partition("=")[2] for s in reversed(lever.settings) if s.startswith(f"{name}=")), "")
