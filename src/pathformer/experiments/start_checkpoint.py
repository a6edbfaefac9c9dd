"""The run whose tables a run starts from: trained already, or trained first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pathformer.errors import ConfigError
from pathformer.experiments.evaluate_run import find_checkpoint
from pathformer.experiments.settings import Run, read_run
from pathformer.training import checkpoint
from pathformer.training.loop import LAST
from pathformer.training.settings import Result

__all__ = ["START", "load_start_checkpoint", "read_start_run", "start_checkpoint"]

START = "start"  # the folder of the run that is trained first, in the folder of the run that starts from it


def load_start_checkpoint(run: Run) -> Result | None:
    """Returns how the training ended that `start` names as a folder or file; None where it names a run file."""
    file = start_checkpoint(run.start)
    if file is None:
        return None
    if run.start_minutes is not None:
        raise ConfigError(f"start_minutes is for a run that is trained first; {run.start} is trained already")
    facts = checkpoint.read_facts(file)
    _check_width(run, facts["method"], facts["model"])
    return Result(finished=True, step=facts["step"], seconds=0.0, last=file, best=file, best_mrr=None)


def start_checkpoint(start: str) -> Path | None:
    """Finds the file that `start` names as a folder or file; None where it names a run file.

    Of a folder the last weights are taken, after the rate's decline: the best on single links may be earlier ones, from
    which queries learn less.
    """
    path = Path(start)
    if not path.exists() or path.suffix == ".toml":
        return None
    return last if (last := path / LAST).is_file() else find_checkpoint(path)


def read_start_run(run: Run) -> Run:
    """Reads the run that is trained first."""
    minutes = [] if run.start_minutes is None else [f"training.minutes={run.start_minutes}"]
    start = read_run(run.start, [f"training.seed={run.training.seed}", *minutes])
    if start.dataset != run.dataset:
        raise ConfigError(f"a run on {run.dataset!r} cannot start from {run.start!r}, which is on {start.dataset!r}")
    _check_width(run, start.method, start.model_settings)
    return start


def _check_width(run: Run, method: str, model: Mapping[str, Any]) -> None:
    """Refuses a link predictor whose rows are to be kept in tables of another width.

    Rows of another width are turned at random (`training.start`), those of entities in another way than those of
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
