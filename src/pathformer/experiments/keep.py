"""A run's folder to the record that the tables read."""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from pathformer.errors import ConfigError, InputError
from pathformer.evaluation.metrics import HITS
from pathformer.evaluation.report import Report
from pathformer.experiments import first
from pathformer.experiments.beside import BESIDE, PAIR, kept_second, whole_minutes
from pathformer.experiments.machine import commit as commit_here
from pathformer.experiments.machine import device_facts
from pathformer.experiments.records import Record
from pathformer.experiments.settings import Run, flat, read_run, run_names
from pathformer.models import build
from pathformer.training import checkpoint
from pathformer.training.logs import LOG, read_log

__all__ = [
    "START",
    "before_all",
    "changes_of",
    "curve_of",
    "figures_of",
    "plain_settings",
    "record_of",
    "run_of",
    "seconds_before",
    "trained_on",
]

START = "start"  # the folder of what a run trains first
_MINUTES = "training.minutes"
_VALID = "valid/"  # what a log calls the figures of a validation


def record_of(
    folder: Path,
    *,
    run: str | None = None,
    variant: str = "",
    device: torch.device | None = None,
    commit: str | None = None,
    note: str = "",
) -> Record:
    """The record of a run that was trained and ranked in `folder`.

    run: the run file, by name or path, found by its settings if not given; device: where it ran, if here and now.
    """
    reports = {name: Report.from_json(path.read_text(encoding="utf-8")) for name, path in _reports(folder).items()}
    if not reports:
        raise InputError(f"{folder}: no test-last.json or test-best.json; has the run finished, with its test?")
    log = read_log(folder / LOG)
    if not log:
        raise InputError(f"{folder}: no {LOG}, or nothing in it: what the run took is not known")
    settings = read_run(folder / "settings.toml")
    stored = plain_settings(tomllib.loads((folder / "settings.toml").read_text(encoding="utf-8")))
    file = run or run_of(settings)
    rates = [line["queries_per_second"] for line in log if "queries_per_second" in line]
    waits = [line["waited"] for line in (*log, *read_log(folder / BESIDE / LOG)) if "waited" in line]
    facts = _facts(folder / PAIR) or _facts(folder / "last.safetensors")
    told = facts or {}
    return Record(
        run=Path(file).stem,
        variant=variant,
        minutes=whole_minutes(settings, folder),
        steps=max(line["step"] for line in log),
        seconds=round(max(line["seconds"] for line in log), 1),
        before=before_all(folder, settings),
        queries_per_second=round(statistics.median(rates)) if rates else None,
        waited=round(sum(waits), 1) if waits else None,
        queries=next(iter(reports.values())).about["queries"],
        trained_on="unknown" if facts is None else trained_on(facts),
        parameters=_size(settings, facts),
        **figures_of(reports),
        weights={kind: _step(report) for kind, report in reports.items()},
        curve=curve_of(log),
        memory_gb=max((line["memory_gb"] for line in log if "memory_gb" in line), default=None),
        changes=changes_of(file, stored),
        settings=stored,
        machine=device_facts(device) if device is not None else told.get("machine", {}),
        commit=commit or (commit_here() if device is not None else told.get("commit", "unknown")),
        date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),  # of two of one day the later can be told
        note=note,
    )


def figures_of(reports: Mapping[str, Report]) -> dict[str, Any]:
    """`mrr` and `hits` of a record, in percent, from reports by weights."""
    mrr, hits = {}, {}
    for kind, report in reports.items():
        mrr[kind] = report.mrr_percent()
        hits[kind] = {name: tuple(round(100 * s.hits[k], 3) for k in HITS) for name, s in report.scores.items()}
    return {"mrr": mrr, "hits": hits}


def curve_of(log: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """`curve` of a record: of every validation in a log its seconds and, in percent, the MRR of each structure."""
    return [
        {
            "seconds": round(line["seconds"], 1),
            **{
                name.removeprefix(_VALID): round(100 * value, 3)
                for name, value in line.items()
                if name.startswith(_VALID) and name != f"{_VALID}mrr"
            },
        }
        for line in log
        if f"{_VALID}mrr" in line
    ]


def seconds_before(folder: Path, start: str) -> float | None:
    """How long the run was trained that this one's tables start from: in its own folder, or wherever `start` is."""
    if not start:
        return 0.0
    for file in (folder / START / "last.safetensors", first.checkpoint_of(start)):
        if file is not None and file.is_file():
            return round(float(checkpoint.read_facts(file)["seconds"]), 1)
    last = folder / "last.safetensors"  # noted when its training began: a path may be one from another folder, or gone
    return checkpoint.read_facts(last).get("before") if last.is_file() else None


def before_all(folder: Path, run: Run) -> float | None:
    """The same of a run and of the one that is trained after it, whose points stand beside its own."""
    own = seconds_before(folder, run.start)
    try:
        other = kept_second(run, folder)
    except ConfigError:  # its file and its folder are elsewhere
        return None
    if other is None or not other.start:
        return own
    if other.start == run.start and first.checkpoint_of(run.start):
        return own  # trained once for both
    theirs = seconds_before(folder / BESIDE, other.start)
    return None if own is None or theirs is None else round(own + theirs, 1)


def run_of(settings: Run) -> str:
    """The run file that a run was made from: of those with its data and its row of the paper, the one nearest to it."""

    def marks(run: Run) -> tuple[object, ...]:
        return run.dataset, run.queries, run.trained, run.method, run.paper

    found = [name for name in run_names() if marks(read_run(name)) == marks(settings)]
    if not found:
        raise InputError(f"no run file is of {settings.dataset} with the row {settings.paper.row!r}: name it")
    stored = checkpoint.as_stored(plain_settings(settings.plain()))
    return min(found, key=lambda name: len(changes_of(name, stored)))


def _reports(folder: Path) -> dict[str, Path]:
    found = {name: folder / f"test-{name}.json" for name in ("last", "best")}
    return {name: path for name, path in found.items() if path.is_file()}


def _facts(last: Path) -> dict[str, Any] | None:
    return checkpoint.read_facts(last) if last.is_file() else None


def trained_on(facts: Mapping[str, Any]) -> str:
    """The origins of a checkpoint's training queries in one phrase."""
    found: dict[str, list[str]] = {}
    for part, words in facts["origin"].items():
        if part.startswith("train "):
            found.setdefault(words, []).append(part.removeprefix("train "))
    return "; ".join(f"{' '.join(names)}: {words}" for words, names in found.items())


def _size(settings: Run, facts: Mapping[str, Any] | None) -> int:
    """Trainable numbers outside the tables."""
    method, model = settings.method, settings.model_settings
    if facts is not None:
        method, model = facts["method"], facts["model"]
    relations = 2 if facts is None else int(facts["relations"])
    return build(method, model, entities=2, relations=relations).sizes()["network"]


def _step(report: Report) -> int:
    """Of "best, step 53,595"."""
    return int(str(report.about["weights"]).rpartition("step ")[2].replace(",", ""))


def changes_of(file: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from the run file; minutes are the budget, and not among it."""
    before = checkpoint.as_stored(plain_settings(read_run(file).plain()))
    return {key: value for key, value in stored.items() if value != before.get(key) and key != _MINUTES}


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """All settings but what is said beside them, with dotted names."""
    return flat({key: value for key, value in settings.items() if key not in ("note", "paper")})
