"""A second run, trained after the first in its own folder, whose points stand beside the first one's.

    second_model = "scratch-nell995"
    second_model_settings = ["training.minutes=5"]
    second_model_weight = 0.6

Both together are `pair.safetensors`, a checkpoint of the method `pair` with the best weights of each; the test ranks it
with the best weights and with the last.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from pathformer.errors import ConfigError
from pathformer.evaluation.report import Report
from pathformer.experiments.settings import Run, read_run
from pathformer.files.atomic import new_file
from pathformer.models._base import Model
from pathformer.models.composed import Composed
from pathformer.models.pair import SILENT, Pair
from pathformer.models.pathformer import Pathformer
from pathformer.query.structures import STRUCTURES
from pathformer.training import checkpoint
from pathformer.training.logs import LOG, read_log

__all__ = [
    "FOLDER",
    "PAIR",
    "figures_file",
    "join",
    "kept_second",
    "kinds",
    "note_pair",
    "second_run",
    "whole_minutes",
    "write_pair",
]

FOLDER = "second"  # the folder of the second run, in the first one's
PAIR = "pair.safetensors"


def second_run(run: Run) -> Run | None:
    """Reads the run that is trained after this one, with the same seed; None if there is none."""
    if not run.second_model:
        return None
    try:
        found = read_run(run.second_model, [f"training.seed={run.training.seed}", *run.second_model_settings])
    except ConfigError as error:  # in words that the first run's own settings could have, too
        raise ConfigError(f"second_model {run.second_model!r}: {error}") from None
    if found.dataset != run.dataset:
        raise ConfigError(
            f"{run.second_model!r} is on {found.dataset!r}: it cannot stand beside a run on {run.dataset!r}"
        )
    if found.queries != run.queries or not {*found.trained_structures} <= {*run.trained_structures}:
        raise ConfigError(
            f"{run.second_model!r} is trained on {found.trained} of {found.queries}: beside a run on {run.trained} of "
            f"{run.queries} it can see no other queries than that run has"
        )
    if found.second_model or (run.method, found.method) != (Composed.name, Pathformer.name):
        raise ConfigError(
            f"second_model {run.second_model!r}: a run of the method composed can have one of the method pathformer "
            f"beside it; these are {run.method} and {found.method}"
        )
    space = found.model_settings["space"]
    if _has_negations(run.trained_structures) and not _has_negations(found.trained_structures) and space not in SILENT:
        raise ConfigError(
            f"{run.second_model!r} is trained without negation in the space {space!r}, where no point says nothing: "
            f"beside a run on {run.trained} train it on efol, or in one of {', '.join(SILENT)}"
        )
    return found


def kept_second(run: Run, folder: Path) -> Run | None:
    """Returns the second run as it was trained in a folder, whatever became of its file; else by its file."""
    kept = folder / FOLDER / "settings.toml"
    return read_run(kept) if run.second_model and kept.is_file() else second_run(run)


def _has_negations(structures: Iterable[str]) -> bool:
    return any(STRUCTURES[name].negated for name in structures)


def whole_minutes(run: Run, folder: Path | None = None) -> float | None:
    """Returns the minutes of a run and of its second model; None if one goes by steps. folder: where both are."""
    other, own = second_run(run) if folder is None else kept_second(run, folder), run.training.minutes
    if other is None or own is None or other.training.minutes is None:
        return None if other is not None else own
    return round(own + other.training.minutes, 4)


def kinds(folder: Path) -> tuple[str, ...]:
    """Returns the weights with which both can be joined: the last, and the best where either was validated."""
    validated = any((part / "best.safetensors").is_file() for part in (folder, folder / FOLDER))
    return ("last", "best") if validated else ("last",)


def figures_file(file: Path, ending: str) -> Path | None:
    """Finds the file of a checkpoint's test figures, `json` or `md`, if they were ranked.

    In a folder with a pair the figures are the pair's, by its best weights; the first run alone has none.
    """
    folder = file.parent
    if (folder / PAIR).is_file() and file.name != PAIR:
        return None
    found = folder / f"test-{kinds(folder)[-1] if file.name == PAIR else file.stem}.{ending}"
    return found if found.is_file() else None


def join(run: Run, folder: Path, kind: str, device: torch.device) -> tuple[Pair, dict[str, Any]]:
    """Joins both by their weights of a kind, "best" or "last"; with the facts of a checkpoint of the pair."""
    (one, facts), (other, theirs) = (_load(part, kind, device) for part in (folder, folder / FOLDER))
    assert isinstance(one, Composed)  # `second_run` has seen to it
    assert isinstance(other, Pathformer)
    denies = (
        _has_negations(theirs["trained"]) or other.config.space not in SILENT
    )  # there neither met one: both are asked
    pair = Pair.of(one, other, run.second_model_weight, denies=denies)
    seconds = facts["seconds"] + theirs["seconds"]
    return pair, {**facts, "method": pair.name, "model": asdict(pair.config), "seconds": seconds}


def _load(folder: Path, kind: str, device: torch.device) -> tuple[Model, dict[str, Any]]:
    file = folder / f"{kind}.safetensors"
    return checkpoint.load_model(file if file.is_file() else folder / "last.safetensors", device)


def write_pair(folder: Path, pair: Pair, facts: Mapping[str, Any]) -> Path:
    """Writes both as one checkpoint."""
    weights = {f"model.{name}": tensor for name, tensor in pair.state_dict().items()}
    checkpoint.write(folder / PAIR, facts, weights)
    return folder / PAIR


def note_pair(folder: Path, report: Report | None) -> None:
    """Adds a last line to the first run's log: the time of both and their validation figures, if any.

    A line of before, of another second run or cut short by a kill, is replaced.
    """
    log = [line for line in read_log(folder / LOG) if FOLDER not in line]
    theirs = read_log(folder / FOLDER / LOG)
    seconds = _latest("seconds", theirs, folder / FOLDER)
    line: dict[str, Any] = {
        "step": _latest("step", log, folder),
        "seconds": _latest("seconds", log, folder) + seconds,
        FOLDER: seconds,
    }
    if memory := [line["memory_gb"] for line in (*log, *theirs) if "memory_gb" in line]:
        line["memory_gb"] = max(memory)
    if report is not None:
        line |= {"valid/mrr": report.mrr, **{f"valid/{name}": part.mrr for name, part in report.scores.items()}}
    with new_file(folder / LOG) as draft:
        draft.write_text("".join(json.dumps(one) + "\n" for one in (*log, line)), encoding="utf-8")


def _latest(name: str, log: Sequence[Mapping[str, Any]], folder: Path) -> Any:
    """Returns the steps or seconds at the end of a run, from its checkpoint if the log is gone."""
    return max((line[name] for line in log), default=checkpoint.read_facts(folder / "last.safetensors")[name])
