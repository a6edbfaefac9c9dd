"""The record of a finished run: one small JSON file, with all that its figures depend on.

Records lie in `benchmarks/records` of a checkout and are no part of the package. A file is named after its run and its
budget: `fb15k-237-epfo@5min.json`. A run may be there with several budgets, and with other settings under a `variant`.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from pathformer.config import flat
from pathformer.errors import ConfigError, InputError
from pathformer.evaluation.metrics import HITS
from pathformer.evaluation.report import Report
from pathformer.experiments.second_model import FOLDER, PAIR, kept_second, whole_minutes
from pathformer.experiments.settings import Run, read_run, run_names
from pathformer.experiments.start_checkpoint import START, start_checkpoint
from pathformer.files.atomic import new_file
from pathformer.models._base import build
from pathformer.query.structures import EFOL_TRAINED, EPFO, EPFO_TRAINED, NEGATION_STRUCTURES
from pathformer.training import checkpoint
from pathformer.training.logs import LOG, read_log
from pathformer.training.machine import commit as commit_here
from pathformer.training.machine import device_facts

__all__ = [
    "NO_RECORDS",
    "RECORDS",
    "Record",
    "budget_words",
    "changes_of",
    "curve_of",
    "figures_of",
    "make_record",
    "plain_settings",
    "read_records",
    "record_name",
    "run_of",
    "seconds_before",
    "seconds_before_all",
    "trained_on",
]

RECORDS = Path(__file__).parents[3] / "benchmarks" / "records"  # of a checkout; an installed package has none
NO_RECORDS = (
    "There are no figures of ours here: records of runs are not part of the package. They lie in benchmarks/records of "
    "the repository; --records DIR reads them from any folder."
)
_GROUPS = {"avg": EPFO, "avg negation": NEGATION_STRUCTURES}
_TRAINED = {"links": 1, "epfo": len(EPFO_TRAINED), "efol": len(EFOL_TRAINED)}  # structures that a run is trained on


@dataclass(frozen=True, kw_only=True)
class Record:
    """The figures of one run that was trained and ranked."""

    run: str  # the run file's name
    variant: str = ""  # a word for settings that differ from the run file's on purpose; empty: the paper's row
    minutes: float | None  # the box of time; none: the run went by steps
    steps: int  # of the run itself, not of one beside it
    seconds: float  # of training, validation included; of a run and the one beside it together
    seconds_before: float | None = 0.0  # seconds of the run that its tables start from; none: not known
    queries_per_second: float | None = None  # median over the run
    seconds_waited: float | None = (
        None  # seconds of it in which fresh queries were not ready; none: it takes none, or not kept
    )
    queries: str  # which test queries were ranked
    trained_on: str  # which queries it was trained on
    runs_on_device: int = 1  # so many runs at most shared the device while it trained, itself included; 1: it was alone
    parameters: int | None = None  # trainable numbers, tables not counted
    mrr: Mapping[str, Mapping[str, float]]  # "last" or "best" weights -> structure -> MRR in percent
    hits: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)  # likewise, Hits@1, 3, 10
    weights: Mapping[str, int] = field(default_factory=dict)  # "last" or "best" -> the step that they are of
    curve: Sequence[Mapping[str, float]] = field(default_factory=list)  # a validation: seconds, structure -> MRR in %
    memory_gb: float | None = None  # most that its tensors held on the device, where that was a card
    changes: Mapping[str, Any] = field(default_factory=dict)  # settings that differ from the run file's
    settings: Mapping[str, Any] = field(default_factory=dict)  # all of them, flat
    machine: Mapping[str, Any] = field(default_factory=dict)  # device, processor, versions
    commit: str = "unknown"
    date: str = ""  # 2026-11-16T09:05Z, or the day alone: sorts by age
    note: str = ""

    def figures(self, weights: str) -> dict[str, float]:
        """Returns MRR in percent by structure, with the averages of groups that are there in full."""
        found = dict(self.mrr[self.kind(weights)])
        for name, group in _GROUPS.items():
            if set(group) <= found.keys():
                found[name] = sum(found[structure] for structure in group) / len(group)
        if self.parameters is not None:
            found["Parameters"] = self.parameters / 1e6
        return found

    def kind(self, weights: str) -> str:
        """Returns the asked weights if they were ranked, else those that were."""
        return weights if weights in self.mrr else next(iter(self.mrr))

    @property
    def budget(self) -> str:
        """The training time or steps in words."""
        return budget_words(self.minutes, self.steps)

    @property
    def updates(self) -> int | None:
        """The number of updates: one a step, or one a structure; None: settings were not kept."""
        if "training.update_per_structure" not in self.settings:
            return None
        return self.steps * (
            _TRAINED[self.settings["trained"]] if self.settings["training.update_per_structure"] else 1
        )

    @property
    def seen(self) -> int | None:
        """The number of queries it was trained on, repeats counted; None: settings were not kept."""
        if "training.batch" not in self.settings:
            return None
        of_each = self.settings.get("training.batch_per", "structure") == "structure"
        return (
            self.steps * int(self.settings["training.batch"]) * (_TRAINED[self.settings["trained"]] if of_each else 1)
        )

    @property
    def file_name(self) -> str:
        """The name of the file that keeps it."""
        return record_name(self.run, self.minutes, self.steps, self.variant)

    def write(self, folder: Path) -> Path:
        """Writes it into a folder, whole or not at all."""
        path = folder / self.file_name
        with new_file(path) as draft:
            draft.write_text(_dump(dataclasses.asdict(self)) + "\n", encoding="utf-8")
        return path

    @classmethod
    def read(cls, path: Path) -> Record:
        """Reads a record that `write` wrote."""
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
            known = {one.name for one in dataclasses.fields(cls)}
            if unknown := [name for name in table if name not in known]:
                raise ValueError(f"no field {unknown[0]!r}")
            return cls(**table)
        except (ValueError, TypeError, OSError) as error:
            raise InputError(f"{path}: not the record of a run: {error}") from None


def budget_words(minutes: float | None, steps: int) -> str:
    """Says a budget in words.

    >>> [budget_words(5.0, 9), budget_words(1.25, 9), budget_words(None, 450_000)]
    ['5 min', '75 s', '450,000 steps']
    """
    if minutes is None:
        return f"{steps:,} steps"
    return f"{minutes:g} min" if minutes == int(minutes) else f"{60 * minutes:g} s"


def record_name(run: str, minutes: float | None, steps: int, variant: str = "") -> str:
    """Returns the name of a record's file.

    >>> record_name("nell995-epfo", 1.25, 0)
    'nell995-epfo@75s.json'
    """
    box = budget_words(minutes, steps).replace(" ", "").replace(",", "")
    return f"{run}@{box}{f'-{variant}' if variant else ''}.json"


def read_records(folder: Path = RECORDS) -> list[Record]:
    """Reads all records of a folder in the order of their names; none if there is no folder."""
    return [Record.read(path) for path in sorted(folder.glob("*@*.json"))]


def _dump(value: Any, depth: int = 0) -> str:
    """Writes JSON with one line for each kind of figures and each validation, not for each number."""
    if isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        return "[\n" + ",\n".join(f"  {json.dumps(inner)}" for inner in value) + "\n ]"
    if not isinstance(value, Mapping) or depth > 2 or not value:
        return json.dumps(value)
    if depth and not any(isinstance(inner, Mapping) for inner in value.values()):
        return json.dumps(value)
    pad = " " * (depth + 1)
    lines = (f"{pad}{json.dumps(key)}: {_dump(inner, depth + 1)}" for key, inner in value.items())
    return "{\n" + ",\n".join(lines) + "\n" + pad[:-1] + "}"


_MINUTES = "training.minutes"
_VALID = "valid/"  # what a log calls the figures of a validation


def make_record(
    folder: Path,
    *,
    run: str | None = None,
    variant: str = "",
    device: torch.device | None = None,
    commit: str | None = None,
    note: str = "",
) -> Record:
    """Makes the record of a run that was trained and ranked in `folder`.

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
    waits = [line["seconds_waited"] for line in (*log, *read_log(folder / FOLDER / LOG)) if "seconds_waited" in line]
    facts = _facts(folder / PAIR) or _facts(folder / "last.safetensors")
    known = facts or {}
    return Record(
        run=Path(file).stem,
        variant=variant,
        minutes=whole_minutes(settings, folder),
        steps=max(line["step"] for line in log),
        seconds=round(max(line["seconds"] for line in log), 1),
        seconds_before=seconds_before_all(folder, settings),
        queries_per_second=round(statistics.median(rates)) if rates else None,
        seconds_waited=round(sum(waits), 1) if waits else None,
        queries=next(iter(reports.values())).about["queries"],
        trained_on="unknown" if facts is None else trained_on(facts),
        parameters=_size(settings, facts),
        **figures_of(reports),
        weights={kind: _step(report) for kind, report in reports.items()},
        curve=curve_of(log),
        memory_gb=max((line["memory_gb"] for line in log if "memory_gb" in line), default=None),
        changes=changes_of(file, stored),
        settings=stored,
        machine=device_facts(device) if device is not None else known.get("machine", {}),
        commit=commit or (commit_here() if device is not None else known.get("commit", "unknown")),
        date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),  # of two of one day the later is shown
        note=note,
    )


def figures_of(reports: Mapping[str, Report]) -> dict[str, Any]:
    """Returns `mrr` and `hits` of a record, in percent, from reports by weights."""
    mrr, hits = {}, {}
    for kind, report in reports.items():
        mrr[kind] = report.mrr_percent()
        hits[kind] = {name: tuple(round(100 * s.hits[k], 3) for k in HITS) for name, s in report.scores.items()}
    return {"mrr": mrr, "hits": hits}


def curve_of(log: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Returns `curve` of a record: the seconds of each validation and the MRR of each structure in percent."""
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
    """Returns how long the run was trained that this one starts from, in this run's folder or wherever `start` is."""
    if not start:
        return 0.0
    for file in (folder / START / "last.safetensors", start_checkpoint(start)):
        if file is not None and file.is_file():
            return round(float(checkpoint.read_facts(file)["seconds"]), 1)
    last = folder / "last.safetensors"  # noted when its training began: a path may be one from another folder, or gone
    return checkpoint.read_facts(last).get("seconds_before") if last.is_file() else None


def seconds_before_all(folder: Path, run: Run) -> float | None:
    """Returns how long everything was trained that a run and its second model start from."""
    own = seconds_before(folder, run.start)
    try:
        other = kept_second(run, folder)
    except ConfigError:  # its file and its folder are elsewhere
        return None
    if other is None or not other.start:
        return own
    if other.start == run.start and start_checkpoint(run.start):
        return own  # trained once for both
    theirs = seconds_before(folder / FOLDER, other.start)
    return None if own is None or theirs is None else round(own + theirs, 1)


def run_of(settings: Run) -> str:
    """Finds the run file of a run: of those with its data and its row of the paper, the one with nearest settings."""

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
    """Says in one phrase where a checkpoint's training queries come from."""
    found: dict[str, list[str]] = {}
    for part, words in facts["origin"].items():
        if part.startswith("train "):
            found.setdefault(words, []).append(part.removeprefix("train "))
    return "; ".join(f"{' '.join(names)}: {words}" for words, names in found.items())


def _size(settings: Run, facts: Mapping[str, Any] | None) -> int:
    """Counts the trainable numbers outside the tables."""
    method, model = settings.method, settings.model_settings
    if facts is not None:
        method, model = facts["method"], facts["model"]
    relations = 2 if facts is None else int(facts["relations"])
    return build(method, model, entities=2, relations=relations).sizes()["network"]


def _step(report: Report) -> int:
    """Reads the step out of "best, step 53,595"."""
    return int(str(report.about["weights"]).rpartition("step ")[2].replace(",", ""))


def changes_of(file: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that differ from the run file's; minutes are the budget and do not count."""
    before = checkpoint.as_stored(plain_settings(read_run(file).plain()))
    return {key: value for key, value in stored.items() if value != before.get(key) and key != _MINUTES}


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns all settings but notes and the paper's figures, with dotted names."""
    return flat({key: value for key, value in settings.items() if key not in ("note", "paper")})
