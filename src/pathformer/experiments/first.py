"""What a run starts from: a link predictor that is trained already, or a run that is trained first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pathformer.errors import ConfigError
from pathformer.experiments.evaluate_run import find_checkpoint
from pathformer.experiments.settings import Run, read_run
from pathformer.training import checkpoint
from pathformer.training.settings import Result

__all__ = ["checkpoint_of", "first_run", "there"]


def there(run: Run) -> Result | None:
    """How the one ended that `start` names as a folder or file; None where it names a run file."""
    file = checkpoint_of(run.start)
    if file is None:
        return None
    if run.start_minutes is not None:
        raise ConfigError(f"start_minutes is for a run that is trained first; {run.start} is trained already")
    facts = checkpoint.read_facts(file)
    _check_kept(run, facts["method"], facts["model"])
    return Result(finished=True, step=facts["step"], seconds=0.0, last=file, best=file, best_mrr=None)


def checkpoint_of(start: str) -> Path | None:
    """The file of what `start` names as a folder or file; None where it names a run file.

    Of a folder the last weights are meant, at the end of the rate's decline: the best on single links may be of the
    middle, and the run of FB15k-237 that started from such ones had 0.8 less than one that did not.
    """
    path = Path(start)
    if not path.exists() or path.suffix == ".toml":
        return None
    return last if (last := path / "last.safetensors").is_file() else find_checkpoint(path)


def first_run(run: Run) -> Run:
    """The run that is trained first."""
    box = [] if run.start_minutes is None else [f"training.minutes={run.start_minutes}"]
    found = read_run(run.start, [f"training.seed={run.training.seed}", *box])
    if found.dataset != run.dataset:
        raise ConfigError(f"a run on {run.dataset!r} cannot start from {run.start!r}, which is on {found.dataset!r}")
    _check_kept(run, found.method, found.model_settings)
    return found


def _check_kept(run: Run, method: str, model: Mapping[str, Any]) -> None:
    """Refuse a link predictor, of this method and settings, whose rows would be kept at another width in their space.

    Rows that are mapped (`training.start`) are turned at random, those of entities in another way than those of
    relations: no product of the two means anything, and tables that never move cannot learn to.
    """
    ours = run.model_settings
    complex_rows = run.method == "composed" or ours.get("space") == "hermitian"
    kept = run.training.update.table_rate == 0.0 and complex_rows
    if not kept or method != "complex":
        return
    wide, dim = 2 * model["rank"], ours["dim"]
    if wide != dim:
        raise ConfigError(
            f"{run.start} is {wide:,} numbers wide, twice its rank, and model.dim is {dim:,}: tables that are kept "
            f"(training.update.table_rate=0) are as wide. Set model.dim={wide}, or train one of model.rank={dim // 2} "
            "with `pathformer train` and start from its folder, start=FOLDER"
        )
