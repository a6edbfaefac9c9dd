"""How a run is judged: by a sample of the validation queries while it is trained, by the test queries at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.report import Report
from pathformer.experiments.settings import Run
from pathformer.models._base import Model
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.training import checkpoint
from pathformer.training.settings import Result

__all__ = ["rank_and_keep", "rank_test", "validation"]

Told = Callable[[str, int], None]  # of each structure that is ranked, and how many queries of it


def validation(run: Run, model: Model, sets: QuerySets[Queries]) -> Callable[[], Report]:
    """A look at a model by some of the validation queries."""
    asked = {name: queries.spread(run.valid_queries) for name, queries in sets["valid"].items()}
    return lambda: evaluate(ModelRanker(model), asked)


def rank_test(
    run: Run, model: Model, result: Result, sets: QuerySets[Queries], folder: Path, told: Told
) -> dict[str, Report]:
    """Figures of the last weights, which the reference code reports, and of the best on validation."""
    reports: dict[str, Report] = {}
    ranked: dict[int, Report] = {}  # by step: where the last weights are the best ones, they are ranked once
    for name, path in (("last", result.last), ("best", result.best)):
        if path is None:
            continue
        saved = checkpoint.read(path)
        step = int(saved.facts["step"])
        if step not in ranked:
            model.load_state_dict(saved.weights())
        reports[name] = ranked[step] = rank_and_keep(run, model, sets, folder, name, step, told, ranked.get(step))
    return reports


def rank_and_keep(
    run: Run,
    model: Model,
    sets: QuerySets[Queries],
    folder: Path,
    name: str,
    step: int,
    told: Told,
    known: Report | None = None,
) -> Report:
    """The test's figures of a model, written beside its weights; known: what is known of the same weights."""
    about = {"dataset": run.dataset, "split": "test", "queries": sets.describe_sources("test"), "weights": ""}
    report = known or evaluate(ModelRanker(model), sets["test"], about=about, paper=run.paper.mrr, progress=told)
    report = replace(report, about={**report.about, "weights": f"{name}, step {step:,}"})
    (folder / f"test-{name}.json").write_text(report.json() + "\n", encoding="utf-8")
    (folder / f"test-{name}.md").write_text(report.markdown(), encoding="utf-8")
    return report
