"""The record of a finished run: one small JSON file, with all that its figures depend on.

The records of this project lie in `benchmarks/records` of a checkout and are no part of the package. A file is named
after its run and its budget: `fb15k-237-epfo@5min.json`. A run may be there with several budgets, and under a `variant`
name with other settings than its file has.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pathformer.errors import InputError
from pathformer.query.structures import EFOL_TRAINED, EPFO, EPFO_TRAINED, NEGATION_STRUCTURES

__all__ = ["NO_RECORDS", "RECORDS", "Record", "budget_words", "read_records", "record_name"]

RECORDS = Path(__file__).parents[3] / "benchmarks" / "records"  # of a checkout; an installed package has none
NO_RECORDS = (
    "There are no figures of ours here: records of runs are not part of the package. They lie in benchmarks/records of "
    "the repository; --records DIR reads them from any folder."
)
_GROUPS = {"avg": EPFO, "avg negation": NEGATION_STRUCTURES}
_TRAINED = {"links": 1, "epfo": len(EPFO_TRAINED), "efol": len(EFOL_TRAINED)}  # structures that a run is trained on


@dataclass(frozen=True, kw_only=True)
class Record:
    """A run that was trained and ranked."""

    run: str  # the run file's name
    variant: str = ""  # a word for settings that differ from the run file's on purpose; empty: the paper's row
    minutes: float | None  # the box of time; none: the run went by steps
    steps: int  # of the run itself, not of one beside it
    seconds: float  # of training, validation included; of a run and the one beside it together
    before: float | None = 0.0  # seconds of the run that its tables start from; none: not known
    queries_per_second: float | None = None  # median over the run
    waited: float | None = None  # seconds of it in which fresh queries were not ready; none: it takes none, or not kept
    queries: str  # which test queries were ranked
    trained_on: str  # which queries it was trained on
    beside: int = 1  # so many runs at most shared the device while it trained, itself included; 1: it was alone
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
        """MRR in percent by structure, with the averages of groups that are there in full; "best" may be missing."""
        found = dict(self.mrr[self.kind(weights)])
        for name, group in _GROUPS.items():
            if set(group) <= found.keys():
                found[name] = sum(found[structure] for structure in group) / len(group)
        if self.parameters is not None:
            found["Parameters"] = self.parameters / 1e6
        return found

    def kind(self, weights: str) -> str:
        """The asked weights where they were ranked, otherwise those that were."""
        return weights if weights in self.mrr else next(iter(self.mrr))

    @property
    def budget(self) -> str:
        """How long it trained, in words."""
        return budget_words(self.minutes, self.steps)

    @property
    def updates(self) -> int | None:
        """Of the weights: a step is one, or one a structure where they take turns; none: settings were not kept."""
        if "training.turns" not in self.settings:
            return None
        return self.steps * (_TRAINED[self.settings["trained"]] if self.settings["training.turns"] else 1)

    @property
    def seen(self) -> int | None:
        """Queries that it was trained on, each as often as it was drawn; none: settings were not kept."""
        if "training.batch" not in self.settings:
            return None
        of_each = self.settings.get("training.share", "structure") == "structure"
        return (
            self.steps * int(self.settings["training.batch"]) * (_TRAINED[self.settings["trained"]] if of_each else 1)
        )

    @property
    def file_name(self) -> str:
        """Under which it is kept."""
        return record_name(self.run, self.minutes, self.steps, self.variant)

    def write(self, folder: Path) -> Path:
        """Keep it in a folder, at once or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.file_name
        part = path.with_suffix(".part")
        part.write_text(_dump(dataclasses.asdict(self)) + "\n", encoding="utf-8")
        return part.replace(path)

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record that `write` kept."""
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
            known = {one.name for one in dataclasses.fields(cls)}
            if unknown := [name for name in table if name not in known]:
                raise ValueError(f"no field {unknown[0]!r}")
            return cls(**table)
        except (ValueError, TypeError, OSError) as error:
            raise InputError(f"{path}: not the record of a run: {error}") from None


def budget_words(minutes: float | None, steps: int) -> str:
    """A budget as people say it.

    >>> [budget_words(5.0, 9), budget_words(1.25, 9), budget_words(None, 450_000)]
    ['5 min', '75 s', '450,000 steps']
    """
    if minutes is None:
        return f"{steps:,} steps"
    return f"{minutes:g} min" if minutes == int(minutes) else f"{60 * minutes:g} s"


def record_name(run: str, minutes: float | None, steps: int, variant: str = "") -> str:
    """The file of a record.

    >>> record_name("nell995-epfo", 1.25, 0)
    'nell995-epfo@75s.json'
    """
    box = budget_words(minutes, steps).replace(" ", "").replace(",", "")
    return f"{run}@{box}{f'-{variant}' if variant else ''}.json"


def read_records(folder: Path = RECORDS) -> list[Record]:
    """All records of a folder, which may be missing, in the order of their names."""
    return [Record.read(path) for path in sorted(folder.glob("*@*.json"))]


def _dump(value: Any, depth: int = 0) -> str:
    """JSON with one line for each figure's structure and each validation, not for each number."""
    if isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        return "[\n" + ",\n".join(f"  {json.dumps(inner)}" for inner in value) + "\n ]"
    if not isinstance(value, Mapping) or depth > 2 or not value:
        return json.dumps(value)
    if depth and not any(isinstance(inner, Mapping) for inner in value.values()):
        return json.dumps(value)
    pad = " " * (depth + 1)
    lines = (f"{pad}{json.dumps(key)}: {_dump(inner, depth + 1)}" for key, inner in value.items())
    return "{\n" + ",\n".join(lines) + "\n" + pad[:-1] + "}"
