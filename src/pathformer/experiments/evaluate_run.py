"""Evaluates a trained run, or one checkpoint of it, on benchmark queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast, get_args

from pathformer.errors import CheckpointError, ConfigError
from pathformer.evaluation.evaluate import Answers, ModelRanker, evaluate
from pathformer.evaluation.metrics import TIES, Ties
from pathformer.evaluation.report import Report
from pathformer.experiments.beside import PAIR
from pathformer.kg.datasets import load
from pathformer.nn.device import choose_device
from pathformer.plan.layout import UnionWay
from pathformer.querysets.sources import collect_queries
from pathformer.text import closest
from pathformer.training import checkpoint

__all__ = ["evaluate_run", "find_checkpoint"]


def evaluate_run(
    path: str | Path,
    *,
    queries: str | None = None,
    graph: str | None = None,
    split: str = "test",
    structures: Sequence[str] | None = None,
    answers: str = "hard",
    ties: str = "expected",
    strict: bool = False,
    union: str | None = None,
    data: str | Path | None = None,
    device: str = "auto",
    progress: Callable[[str, int], None] | None = None,
) -> Report:
    """Returns the report of a run's folder or of a checkpoint; what is not given is as the run had it.

    progress: called after each structure with its name and number of queries.
    """
    _check_words(split, answers, ties, union)
    file = find_checkpoint(Path(path))
    model, facts = checkpoint.load_model(file, choose_device(device))
    kg = load(graph or facts["dataset"], data)
    checkpoint.check_graph(facts, kg.vocabulary.fingerprint(), file, kg.name)
    _check("split", split, tuple(kg.splits))
    sets = collect_queries(
        kg,
        queries or facts["queries"],
        trained=facts["trained"],
        evaluated=structures or facts["evaluated"],
        data=data,
        splits=(split,),
    )
    about = {
        "dataset": kg.name,
        "split": split,
        "queries": sets.describe_sources(split),
        "weights": f"{file.stem}, step {facts['step']:,}",
        **({} if union is None else {"union": union}),
    }
    own = queries is None or queries == facts["queries"]
    return evaluate(
        ModelRanker(model, union=cast(UnionWay | None, union)),
        sets[split],
        answers=cast(Answers, answers),
        ties=cast(Ties, ties),
        strict=kg.graph(split) if strict else None,
        about=about,
        progress=progress,
        paper=facts["settings"]["paper"]["mrr"] if own and split == "test" and answers == "hard" else {},
    )


def find_checkpoint(path: Path) -> Path:
    """Returns the path if it is a checkpoint; in a run's folder, the pair of two runs, else the best, else the last."""
    if not path.is_dir():
        return path
    if (path / "engine.json").is_file():
        raise CheckpointError(
            f"{path} is an engine, not a run of `pathformer train`: how well it answers stands in its report.md"
        )
    found = (path / name for name in (PAIR, "best.safetensors"))
    return next((file for file in found if file.is_file()), path / "last.safetensors")


def _check_words(split: str, answers: str, ties: str, union: str | None) -> None:
    _check("answers", answers, get_args(Answers))
    _check("ties", ties, TIES)
    _check("split", split, ("valid", "test"))
    if union is not None:
        _check("union", union, get_args(UnionWay))


def _check(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        near = closest(value, known, count=1)
        hint = f"; closest: {near[0]!r}" if near else ""
        raise ConfigError(f"{what} {value!r} is not one of {', '.join(known)}{hint}")
