"""From a run file to figures: graph, queries, model, training, test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from pathformer.config import to_toml
from pathformer.evaluation.report import Report
from pathformer.experiments import second_model
from pathformer.experiments.checks import check_graph, check_method, check_settings
from pathformer.experiments.evaluate_run import rank_and_write, rank_test
from pathformer.experiments.records import seconds_before
from pathformer.experiments.settings import Run
from pathformer.experiments.start_checkpoint import START, load_start_checkpoint, read_start_run
from pathformer.files.atomic import new_file
from pathformer.files.lock import hold_folder
from pathformer.files.manifest import NAME
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model
from pathformer.nn.device import choose_device
from pathformer.querysets.protocol import protocol_for
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.querysets.sampler import Rules
from pathformer.querysets.sources import collect_queries
from pathformer.text import counted, duration
from pathformer.training import pipeline
from pathformer.training.display import Display
from pathformer.training.logs import LOG
from pathformer.training.loop import LAST
from pathformer.training.machine import commit, device_facts
from pathformer.training.redraw import TrainingQueries
from pathformer.training.settings import Result

__all__ = ["Material", "Outcome", "gather", "new_model", "start_anew", "train_run", "training_queries"]

_FEW = 100  # updates; no result of the package is of fewer than 800
_RANKED = "the test queries"
_WIDE = 5_000_000  # numbers in a table of entities, beyond which an update of a processor takes seconds and more


@dataclass(frozen=True)
class Material:
    """The graph and the queries of a run; runs of one dataset and query set may share them."""

    kg: KnowledgeGraph
    sets: QuerySets[Queries]


def gather(run: Run, data: str | Path | None = None, *, test: bool = True) -> Material:
    """Loads a run's graph and puts its queries together; test: with the test queries."""
    kg = load(run.dataset, data)
    trained, evaluated = run.trained_structures, run.evaluated_structures
    splits = ("train", "valid", "test") if test else ("train", "valid")
    return Material(
        kg, collect_queries(kg, run.queries, trained=trained, evaluated=evaluated, data=data, splits=splits)
    )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended, and the test figures of its last and its best weights."""

    result: Result
    reports: Mapping[str, Report]  # "last", "best"; empty while the run is not finished or there is no test split


def train_run(
    run: Run,
    folder: Path,
    *,
    data: str | Path | None = None,
    device: str = "auto",
    test: bool = True,
    display: Display | None = None,
    material: Material | None = None,
) -> Outcome:
    """Trains a run in its folder, or continues it there; when it is finished, ranks the test queries.

    data: the folder that holds datasets; material: what `gather` gave, where several runs share it.
    """
    display, chosen = display or Display(), choose_device(device)
    with hold_folder(folder):
        check_settings(folder / LAST, run)
        check_method(run)
        if (other := second_model.second_run(run)) is not None:
            check_method(other)
        if material is None:
            display.say(f"reading {run.dataset}, its queries read or drawn")
            material = gather(run, data, test=test)
        return _train_alone(run, folder, material, chosen, display, test)


def _train_alone(
    run: Run, folder: Path, material: Material, device: torch.device, display: Display, test: bool
) -> Outcome:
    """Trains a run with all at hand, while no other process may touch the folder."""
    kg, queries = material.kg, training_queries(run, material)
    sets = _name_sources(material.sets, queries)
    _announce(run, Material(kg, sets), device, display, test)
    check_graph(folder / LAST, kg)
    with new_file(folder / "settings.toml", "run") as draft:
        draft.write_text(to_toml(run), encoding="utf-8")
    model = new_model(run, kg, device)
    result = pipeline.train_model(
        model,
        pipeline.Material(
            queries=queries, valid=_validation_queries(run, sets), facts=partial(_facts, run, sets, device, folder)
        ),
        folder,
        display,
        start=(lambda: _train_start(run, folder, Material(kg, sets), str(device), display)) if run.start else None,
    )
    if result.last.parent != folder:  # what it starts from was interrupted
        return Outcome(result=result, reports={})
    if result.finished and run.training.minutes is not None and result.step < _FEW:
        display.say(
            f"{counted(result.step, 'update')} in {duration(result.seconds)} on {device}: so few teach next to "
            "nothing, whatever the method; more minutes, a smaller model or a faster device make more of them"
        )
    if result.finished and (other := second_model.second_run(run)) is not None:
        del model  # the second has the memory for itself
        return _train_second(run, other, result, folder, material, device, display, test)
    reports: dict[str, Report] = {}
    if test and result.finished and "test" in sets.splits:
        with display.ranking(_RANKED) as advance:
            reports = rank_test(run, model, result, sets, folder, advance)
    return Outcome(result=result, reports=reports)


def _train_second(
    run: Run,
    other: Run,
    result: Result,
    folder: Path,
    material: Material,
    device: torch.device,
    display: Display,
    test: bool,
) -> Outcome:
    """Trains the second run after the first, and ranks both by the points of both."""
    display.say(f"then {run.second_model}: its points stand beside these")
    sets, inner = material.sets, folder / second_model.FOLDER
    own = Material(material.kg, sets.only(train=other.trained_structures, other=other.evaluated_structures))
    after = train_run(other, inner, device=str(device), test=False, display=display, material=own).result
    if not after.finished:
        return Outcome(result=after, reports={})
    pair, facts = second_model.join(run, folder, "best", device)
    report = pipeline.validation(pair, valid)() if (valid := _validation_queries(run, sets)) else None
    if report is not None:
        display.say(f"both: validation MRR {100 * report.mrr:.2f}")
    second_model.note_pair(folder, report)
    mrr = None if report is None else report.mrr
    file = second_model.write_pair(folder, pair, {**facts, "valid_mrr": mrr})
    reports: dict[str, Report] = {}
    if test and "test" in sets.splits:
        with display.ranking(_RANKED) as advance:
            for kind in second_model.kinds(folder):
                ranked, its = (pair, facts) if kind == "best" else second_model.join(run, folder, kind, device)
                reports[kind] = rank_and_write(run, ranked, sets, folder, kind, int(its["step"]), advance)
    best = None if report is None else file
    both = replace(result, seconds=result.seconds + after.seconds, best=best, best_mrr=mrr)
    return Outcome(result=both, reports=reports)


def _train_start(run: Run, folder: Path, material: Material, device: str, display: Display) -> Result:
    """Returns the training that a run starts from: a checkpoint, or a run that is trained first in `folder`."""
    if found := load_start_checkpoint(run):
        return found
    start = read_start_run(run)
    display.say(f"first {run.start}: the tables start from what it learns")
    sets = material.sets.only(train=start.trained_structures, other=start.evaluated_structures)
    own = Material(material.kg, sets)
    return train_run(start, folder / START, device=device, test=False, display=display, material=own).result


def training_queries(run: Run, material: Material) -> TrainingQueries:
    """The queries that a run learns from, drawn anew as the dataset's own ones are walked."""
    rules = Rules(forward=not protocol_for(material.kg).backward)
    return TrainingQueries(kg=material.kg, given=material.sets["train"], settings=run.training, rules=rules)


def _name_sources(sets: QuerySets[Queries], queries: TrainingQueries) -> QuerySets[Queries]:
    """Says of each structure where its queries come from, where the run draws them in its own way."""
    ways = {f"train {name}": queries.own_way(part.structure) for name, part in queries.given.items()}
    return replace(sets, sources={part: ways.get(part) or words for part, words in sets.sources.items()})


def _validation_queries(run: Run, sets: QuerySets[Queries]) -> dict[str, Queries]:
    """Chooses some of the validation queries; none where the graph has no such part."""
    return {name: queries.spread(run.valid_queries) for name, queries in sets.splits.get("valid", {}).items()}


def _announce(run: Run, material: Material, device: torch.device, display: Display, test: bool) -> None:
    """Says what is trained on, and what it is judged by."""
    kg, sets = material.kg, material.sets
    sizes = ", ".join(f"{split} {len(triples):,}" for split, triples in kg.splits.items())
    display.say(f"{kg.name} on {device}: {kg.vocabulary.entity_count:,} entities; triples: {sizes}")
    for split in (split for split in sets.splits if test or split != "test"):
        display.say(f"{split} queries: {sets.describe_sources(split)}")
    wide = run.model_settings.get("dim", 0) * kg.vocabulary.entity_count > _WIDE
    if wide and device.type == "cpu" and run.training.minutes is not None:
        display.say(
            f"{run.training.minutes:g} minutes of a processor hold few updates of a model of this size: it is meant "
            "for a card; `pathformer fit` has settings for a processor"
        )


def start_anew(folder: Path) -> None:
    """Deletes the files of a run, and nothing else, from its folder; refused while another process trains there."""
    if not folder.is_dir():
        return
    with hold_folder(folder):
        for name in (NAME, LAST, "best.safetensors", second_model.PAIR, LOG):
            (folder / name).unlink(missing_ok=True)
        for pattern in ("tensorboard/events.out.tfevents.*", "test-*.json", "test-*.md"):
            for file in folder.glob(pattern):
                file.unlink()
        for another in (folder / START, folder / second_model.FOLDER):
            start_anew(another)


def new_model(run: Run, kg: KnowledgeGraph, device: torch.device) -> Model:
    """Builds a run's model with its first weights."""
    return pipeline.new_model(run.method, run.model_settings, kg, device, run.training.seed)


def _facts(run: Run, sets: QuerySets[Queries], device: torch.device, folder: Path) -> dict[str, Any]:
    """Returns what every checkpoint of a run says of itself besides its model."""
    return {
        "dataset": run.dataset,
        "queries": run.queries,
        "trained": list(run.trained_structures),
        "evaluated": list(run.evaluated_structures),
        "origin": dict(sets.sources),
        "settings": run.plain(),
        "machine": device_facts(device),
        "commit": commit(),
        "seconds_before": seconds_before(folder, run.start),
    }
