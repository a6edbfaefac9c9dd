"""Many runs in boxes of time, one after the other or side by side; what is done is kept, what was cut goes on.

Every run has its folder under `work`, where a cut one is continued by the next call, and leaves a record under `out` as
soon as it is ranked; a caller who wants none twice leaves out those that have one. Graphs and queries are read once for
all runs.
"""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from pathformer.experiments.box import GRACE, HABITS, Box, Terms, alarm, run_box, summary
from pathformer.experiments.filled import Filled
from pathformer.experiments.shelf import Shelf
from pathformer.experiments.side import fill_side
from pathformer.training.device import choose_device
from pathformer.training.display import Display

__all__ = ["HABITS", "Box", "Filled", "fill"]


def fill(
    boxes: Sequence[Box],
    out: Path,
    work: Path,
    *,
    seconds: float | None = None,
    whole: bool = False,
    keep: bool = False,
    data: str | Path | None = None,
    device: str = "auto",
    commit: str | None = None,
    display: Display | None = None,
    jobs: int = 1,
    others: int = 0,
    mps: bool = True,
) -> Filled:
    """Run the boxes in their order, as many as there is time for.

    seconds: after which the runs in progress are stopped and saved; whole: start none that would be cut; keep: leave
    the weights of finished runs in their folders; commit: what the records say, where this is no checkout; jobs: how
    many share the device, each in a process of its own, with `mps` through NVIDIA's multi-process service if it is
    there; others: processes that share it besides, which the records count. With several jobs the caller must not have
    used a CUDA device before.
    """
    display, begun = display or Display(), time.monotonic()
    if jobs == 1:
        choose_device(device)  # a wrong name is told at once
    shelf = Shelf((run for box in boxes for run in box.runs()), data)
    beside = max(1, min(jobs, len(boxes))) + others  # the last of a long list may be fewer than there is room for
    terms = Terms(out=out, work=work, device=device, keep=keep, commit=commit, jobs=jobs, beside=beside)
    deadline = None if seconds is None else begun + seconds
    if jobs > 1:
        return fill_side(boxes, shelf, terms, deadline=deadline, whole=whole, display=display, mps=mps)
    return _one_by_one(boxes, shelf, terms, deadline, whole, display)


def _one_by_one(
    boxes: Sequence[Box], shelf: Shelf, terms: Terms, deadline: float | None, whole: bool, display: Display
) -> Filled:
    filled, ranking = Filled([], list(boxes), {}), 20.0  # seconds of the longest test so far
    try:
        with alarm(None if deadline is None else deadline - time.monotonic() - GRACE):
            for box in boxes:
                spare = float("inf") if deadline is None else deadline - time.monotonic() - GRACE
                if spare <= 0 or (whole and spare < 60 * box.whole + ranking):
                    break
                display.say(f"{box.name}: {len(filled.left)} to go")
                try:
                    shelf.material(box.read())
                    start = time.monotonic()
                    record = run_box(box, shelf, terms, display)
                except Exception as error:
                    filled.fail(box, f"{type(error).__name__}: {error}")
                    display.say(traceback.format_exc())
                    continue
                finally:
                    gc.collect()
                if record is None:
                    break
                filled.finish(box, record)
                ranking = max(ranking, time.monotonic() - start - record.seconds)
                display.say(summary(record))
    except KeyboardInterrupt:
        display.say("stopped; the same command goes on")
    return filled
