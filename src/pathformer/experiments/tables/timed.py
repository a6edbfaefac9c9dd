"""Table 15: seconds for 100 training steps, the paper's beside those of a benchmark of speed.

`pathformer bench train --model all` leaves a file for a machine; the newest of each device that is there is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pathformer.errors import InputError
from pathformer.experiments.records import PACKAGED, Record
from pathformer.experiments.tables.catalogue import CASES, TITLES
from pathformer.experiments.tables.paper import RUNNING_TIME
from pathformer.experiments.tables.view import Grid, Line
from pathformer.query.structures import EFOL_TRAINED, EPFO_TRAINED

__all__ = ["running_time", "speeds", "speeds_of_runs"]

_AT_ONCE = ", all in one update"
_COLUMNS = {"EPFO Queries": "epfo", "FOL Queries": "efol"}


def speeds(folders: Iterable[Path] = (PACKAGED,)) -> list[dict[str, Any]]:
    """What `speed` left in some folders: `speed-DEVICE.json`; of one name the later folder's counts."""
    paths = {path.name: path for folder in folders for path in sorted(folder.glob("speed-*.json"))}
    found = []
    for _, path in sorted(paths.items()):
        try:
            found.append(json.loads(path.read_text(encoding="utf-8")))
        except ValueError as error:
            raise InputError(f"{path}: not the figures of a benchmark: {error}") from None
    return found


def speeds_of_runs(records: Iterable[Record]) -> list[dict[str, Any]]:
    """The same from runs that were trained with 512 queries of each structure a step: one entry a device."""
    runs = {run: (name, "epfo") for name, run in CASES.items()}
    runs |= {run.replace("-epfo", "-efol"): (name, "efol") for name, run in CASES.items() if "-epfo" in run}
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        settings, rate = record.settings, record.queries_per_second
        usual = settings.get("training.batch") == 512 and settings.get("training.share") == "structure"
        if record.run not in runs or rate is None or not usual:
            continue
        name, kind = runs[record.run]
        label = name if settings["training.turns"] else f"{name}{_AT_ONCE}"
        queries = 512 * len(EPFO_TRAINED if kind == "epfo" else EFOL_TRAINED)
        device = str(record.machine["device"])
        new: dict[str, Any] = {"about": "from whole training runs", "machine": record.machine, "commit": ""}
        entry = found.setdefault(device, {**new, "of_the_papers_size": True, "methods": {}})
        if record.commit not in entry["commit"]:
            entry["commit"] = f"{entry['commit']} {record.commit}".strip()
        entry["methods"].setdefault(label, {})[kind] = {"seconds_per_100_steps": 100 * queries / rate}
    return list(found.values())


def running_time(measured: Iterable[Mapping[str, Any]]) -> Grid:
    """The paper's four methods, and below them those that it does not time; one block a device.

    Small models, as measured on a processor, do not stand beside the paper's figures.
    """
    lines, notes = [], []
    for one in measured:
        device = str(one["machine"]["device"])
        methods = one["methods"]
        for model in [*RUNNING_TIME, *(name for name in methods if name not in RUNNING_TIME)]:
            ours = {
                column: methods[model][key]["seconds_per_100_steps"]
                for column, key in _COLUMNS.items()
                if key in methods.get(model, {})
            }
            about = {"device": device, "commit": one["commit"]}
            paper = RUNNING_TIME.get(model.removesuffix(_AT_ONCE), {}) if one["of_the_papers_size"] else {}
            if not ours and not paper:
                continue
            lines.append(Line(dataset=device, model=model, run="", paper=paper, ours=ours or None, about=about))
        notes.append(f"{device}: {one['about']}; commit {one['commit']}.")
    if not any(line.paper for line in lines):
        alone = [Line(dataset="", model=model, run="", paper=figures) for model, figures in RUNNING_TIME.items()]
        lines = [*alone, *lines]
        notes.append("No benchmark at the paper's sizes yet: pathformer bench train --model all, on a CUDA device.")
    notes.append("The paper's are of an NVIDIA GTX 1080 Ti; a step is one batch of 512 of each trained structure.")
    return Grid(
        number=15,
        title=TITLES[15],
        columns=tuple(_COLUMNS),
        lines=tuple(lines),
        notes=tuple(notes),
        digits=2,
        group="device",
    )
