"""Table 15: seconds for 100 training steps, the paper's beside those of a benchmark of speed.

`pathformer bench speed` leaves a file for each device among the records.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pathformer.errors import InputError
from pathformer.experiments.records import NO_RECORDS, RECORDS
from pathformer.experiments.tables.catalogue import TITLES
from pathformer.experiments.tables.paper import RUNNING_TIME, TIMED_ON
from pathformer.experiments.tables.view import Grid, Line

__all__ = ["running_time", "speeds"]

_AT_ONCE = ", all in one update"
_BENCH = "pathformer bench speed"
_COLUMNS = {"EPFO Queries": "epfo", "FOL Queries": "efol"}


def speeds(folder: Path = RECORDS) -> list[dict[str, Any]]:
    """Reads what `pathformer bench speed` left in a folder: `speed-DEVICE.json`."""
    found = []
    for path in sorted(folder.glob("speed-*.json")):
        try:
            found.append(json.loads(path.read_text(encoding="utf-8")))
        except ValueError as error:
            raise InputError(f"{path}: not the figures of a benchmark: {error}") from None
    return found


def running_time(measured: Iterable[Mapping[str, Any]]) -> Grid:
    """Makes Table 15: the paper's four methods on its device, below them one block for each device of ours.

    A method that the paper times too has its difference, but for small models, as measured on a processor: those do
    not stand beside the paper's figures. Nor does a step in one update: the paper's is one a structure.
    """
    measured = list(measured)
    lines = [
        Line(dataset=TIMED_ON, model=model, run="", paper=figures, about={"device": TIMED_ON})
        for model, figures in RUNNING_TIME.items()
    ]
    for one in measured:
        lines += _lines(one)
    notes = [f"{one['machine']['device']}: {one['about']}; commit {one['commit']}." for one in measured]
    if not measured:
        notes.append(NO_RECORDS)
    elif not any(one["of_the_papers_size"] for one in measured):
        notes.append(f"No benchmark at the paper's sizes yet: {_BENCH}, on a CUDA device.")
    notes.append(
        f"The paper's are of an {TIMED_ON}, its Pathformer has one layer, as ours without a number; "
        "a step is one batch of 512 of each trained structure, an update each."
    )
    if any(line.model.endswith(_AT_ONCE) for line in lines):
        notes.append(f"A step{_AT_ONCE.replace(',', '')} is not in the paper, so no difference is shown there.")
    return Grid(
        number=15,
        title=TITLES[15],
        columns=tuple(_COLUMNS),
        lines=tuple(lines),
        notes=tuple(notes),
        digits=2,
        group="device",
    )


def _lines(one: Mapping[str, Any]) -> list[Line]:
    """Makes the lines of one device, first those that the paper times too, in its order."""
    device, methods = str(one["machine"]["device"]), one["methods"]
    against = RUNNING_TIME if one["of_the_papers_size"] else {}
    return [
        Line(
            dataset=device,
            model=model,
            run="",
            paper={},
            ours={c: methods[model][k]["seconds_per_100_steps"] for c, k in _COLUMNS.items() if k in methods[model]},
            against=against.get(model, {}),
            about={"device": device, "commit": one["commit"]},
        )
        for model in dict.fromkeys((*RUNNING_TIME, *methods))
        if model in methods
    ]
