"""Evaluates a run: all its weights on the test queries when it ends, or one checkpoint on any benchmark queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from pathformer.errors import CheckpointError, ConfigError
from pathformer.evaluation.evaluate import Answers, ModelRanker, evaluate
from pathformer.evaluation.metrics import TIES, Ties
from pathformer.evaluation.report import Report
from pathformer.experiments.second_model import PAIR
from pathformer.experiments.settings import Run
from pathformer.files.atomic import new_file
from pathformer.kg.datasets import load
from pathformer.models._base import Model
from pathformer.nn.device import choose_device
from pathformer.plan.layout import UnionWay
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.querysets.sources import collect_queries
from pathformer.text import closest
from pathformer.training import checkpoint
from pathformer.training.settings import Result

__all__ = ["evaluate_run", "find_checkpoint", "rank_and_write", "rank_test"]

Advance = Callable[[str, int], None]  # called with each structure that is ranked, and the number of its queries


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
    for name in (PAIR, "best.safetensors"):
        checkpoint.check(path / name)  # one that is gone would make another the best
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


def rank_test(
    run: Run, model: Model, result: Result, sets: QuerySets[Queries], folder: Path, advance: Advance
) -> dict[str, Report]:
    """Ranks the last weights, which the reference code reports, and the best on validation."""
    reports: dict[str, Report] = {}
    ranked: dict[int, Report] = {}  # by step: where the last weights are the best ones, they are ranked once
    for name, path in (("last", result.last), ("best", result.best)):
        if path is None:
            continue
        saved = checkpoint.read(path)
        step = int(saved.facts["step"])
        if step not in ranked:
            model.load_state_dict(saved.weights())
        reports[name] = ranked[step] = rank_and_write(run, model, sets, folder, name, step, advance, ranked.get(step))
    return reports


def rank_and_write(
    run: Run,
    model: Model,
    sets: QuerySets[Queries],
    folder: Path,
    name: str,
    step: int,
    advance: Advance,
    known: Report | None = None,
) -> Report:
    """Ranks the test queries and writes the figures beside the weights; known: the figures of the same weights."""
    about = {"dataset": run.dataset, "split": "test", "queries": sets.describe_sources("test"), "weights": ""}
    report = known or evaluate(ModelRanker(model), sets["test"], about=about, paper=run.paper.mrr, progress=advance)
    report = replace(report, about={**report.about, "weights": f"{name}, step {step:,}"})
    for ending, text in (("json", report.json() + "\n"), ("md", report.markdown())):
        with new_file(folder / f"test-{name}.{ending}", "run") as draft:
            draft.write_text(text, encoding="utf-8")
    return report
