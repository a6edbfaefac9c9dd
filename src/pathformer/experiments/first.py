"""What a run starts from: link predictors that are trained already, or runs that are trained first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pathformer.errors import ConfigError
from pathformer.experiments.measure import find_checkpoint
from pathformer.experiments.settings import Run, read_run
from pathformer.training import checkpoint
from pathformer.training.loop import Result

__all__ = ["checkpoints", "members", "there"]


def there(run: Run) -> list[Result]:
    """How those ended that `start` names as folders or files; none where it names a run file."""
    files = checkpoints(run.start)
    missing = [path for path in _several(run.start) if not path.exists()]
    if 0 < len(missing) < len(_several(run.start)):
        raise ConfigError(f"start={run.start}: there is no {missing[0]}")
    for name, usual in (("start_minutes", None), ("start_members", 1)) if files else ():
        if getattr(run, name) != usual:
            raise ConfigError(f"{name} is for a run that is trained first; {run.start} is trained already")
    facts = [checkpoint.read_facts(file) for file in files]
    _check_kept(run, [(each["method"], each["model"]) for each in facts])
    return [
        Result(finished=True, step=each["step"], seconds=0.0, last=file, best=file, best_mrr=None)
        for file, each in zip(files, facts, strict=True)
    ]


def checkpoints(start: str) -> list[Path]:
    """The files of what `start` names as folders or files; none where it names a run file.

    Of a folder the last weights are meant, at the end of the rate's decline: the best on single links may be of the
    middle, and the run of FB15k-237 that started from such ones had 0.8 less than one that did not (docs/recipe.md).
    """
    return [last if (last := path / "last.safetensors").is_file() else find_checkpoint(path) for path in _paths(start)]


def _paths(start: str) -> list[Path]:
    several = _several(start)
    found = several if all(path.exists() for path in several) else []
    return [] if any(path.suffix == ".toml" for path in found) else found


def _several(start: str) -> list[Path]:
    return [Path(start)] if Path(start).exists() else [Path(part) for part in start.split(",")]


def members(run: Run) -> list[Run]:
    """The runs that are trained first, each with a seed of its own."""
    box = [] if run.start_minutes is None else [f"training.minutes={run.start_minutes}"]
    seeds = range(run.training.seed * run.start_members, (run.training.seed + 1) * run.start_members)
    found = [read_run(run.start, [f"training.seed={seed}", *box]) for seed in seeds]
    if found[0].dataset != run.dataset:
        raise ConfigError(f"a run on {run.dataset!r} cannot start from {run.start!r}, which is on {found[0].dataset!r}")
    if len(found) > 1:
        _check_widths(run, found)
    _check_kept(run, [(before.method, before.model_settings) for before in found])
    return found


def _check_kept(run: Run, sources: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Refuse link predictors, each a method and its settings, whose rows would be kept at another width in their space.

    Rows that are mapped (`training.start`) are turned at random, those of entities in another way than those of
    relations: no product of the two means anything, and tables that never move cannot learn to.
    """
    ours = run.model_settings
    kept = run.training.update.table_rate == 0.0 and ours.get("space") == "hermitian"
    if not kept or not sources or any(method != "complex" for method, _ in sources):
        return
    wide, dim = sum(2 * model["rank"] for _, model in sources), ours["dim"]
    if wide != dim:
        raise ConfigError(
            f"{run.start} is {wide:,} numbers wide, twice its rank, and model.dim is {dim:,}: tables that are kept "
            f"(training.update.table_rate=0) are as wide. Set model.dim={wide}, or train one of model.rank={dim // 2} "
            "with `pathformer train` and start from its folder, start=FOLDER"
        )


def _check_widths(run: Run, found: list[Run]) -> None:
    """Refuse several that would not stand side by side in the model, before any is trained."""
    settings, method = run.model_settings, found[0].method
    if method != "complex":
        raise ConfigError(f"start_members {len(found)} is for runs of the method complex, not {method}")
    wide = sum(2 * before.model_settings["rank"] for before in found)
    if settings.get("space") != "hermitian" or settings.get("dim") != wide:
        raise ConfigError(
            f"start_members {len(found)}: side by side they are {wide:,} numbers wide; "
            f"set model.space=hermitian and model.dim={wide}"
        )
