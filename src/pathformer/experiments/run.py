"""From a run file to figures: graph, queries, model, training, test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from pathformer import __version__
from pathformer.config import to_toml
from pathformer.errors import ConfigError
from pathformer.evaluation.report import Report
from pathformer.experiments import beside, first
from pathformer.experiments.drawn import first_set, fresh_set, with_origins
from pathformer.experiments.judge import rank_and_keep, rank_test, validation
from pathformer.experiments.records import START, seconds_before
from pathformer.experiments.refuse import check_graph, check_method, check_settings
from pathformer.experiments.settings import Run
from pathformer.files.lock import alone
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model, build
from pathformer.models.pair import Pair
from pathformer.nn.device import choose_device
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.querysets.sources import collect_queries
from pathformer.text import counted, duration
from pathformer.training import checkpoint
from pathformer.training.data import TrainingSet
from pathformer.training.display import Display
from pathformer.training.fresh import ROOM
from pathformer.training.logs import LOG
from pathformer.training.loop import train
from pathformer.training.machine import commit, device_facts
from pathformer.training.settings import Result, Task
from pathformer.training.start import start_tables

__all__ = [
    "Material",
    "Outcome",
    "gather",
    "new_model",
    "start_anew",
    "train_run",
    "training_set",
]

_FEW = 100  # updates; no result of the package is of fewer than 800
_RANKED = "the test queries"
_WIDE = 5_000_000  # numbers in a table of entities, beyond which an update of a processor takes seconds and more


@dataclass(frozen=True)
class Material:
    """What a run works on; runs of one dataset and query set may share it."""

    kg: KnowledgeGraph
    sets: QuerySets[Queries]


def gather(run: Run, data: str | Path | None = None, *, test: bool = True) -> Material:
    """Load a run's graph and put its queries together; test: those of the test, too."""
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
    """Train a run in its folder, or continue it there; when it is finished, rank the test queries.

    data: the folder that holds datasets; material: what `gather` gave, where several runs share it.
    """
    display, place = display or Display(), choose_device(device)
    with alone(folder):
        check_settings(folder / "last.safetensors", run)
        check_method(run)
        if (other := beside.second_run(run)) is not None:
            check_method(other)
        if material is None:
            display.say(f"reading {run.dataset}, its queries read or drawn")
            material = gather(run, data, test=test)
        return _train_alone(run, folder, material, place, display, test)


def _train_alone(
    run: Run, folder: Path, material: Material, place: torch.device, display: Display, test: bool
) -> Outcome:
    """What `train_run` does with all at hand, while no other process may touch the folder."""
    kg, sets = _told(run, material, place, display, test)
    check_graph(folder / "last.safetensors", kg)
    (folder / "settings.toml").write_text(to_toml(run), encoding="utf-8")
    model = new_model(run, kg, place)
    if run.start and not (folder / "last.safetensors").is_file():
        before = _first(run, folder, Material(kg, sets), str(place), display)
        if not before.finished:
            return Outcome(result=before, reports={})
        start_tables(model, _source(before.last, kg, place), run.training.seed)
    task = Task(
        model=model,
        data=training_set(run, Material(kg, sets), place),
        facts={
            **_facts(run, kg, sets),
            "machine": device_facts(place),
            "commit": commit(),
            "before": seconds_before(folder, run.start),
        },
        validate=validation(run, model, sets) if "valid" in sets.splits else None,
        draw=partial(fresh_set, run, kg, sets["train"]) if run.training.redraw_every else None,
    )
    result = train(task, run.training, folder, display)
    if result.finished and run.training.minutes is not None and result.step < _FEW:
        display.say(
            f"{counted(result.step, 'update')} in {duration(result.seconds)} on {place}: so few teach next to nothing, "
            "whatever the method; more minutes, a smaller model or a faster device make more of them"
        )
    if result.finished and (other := beside.second_run(run)) is not None:
        del task, model  # the second has the memory for itself
        return _train_beside(run, other, result, folder, material, place, display, test)
    reports: dict[str, Report] = {}
    if test and result.finished and "test" in sets.splits:
        with display.ranking(_RANKED) as told:
            reports = rank_test(run, model, result, sets, folder, told)
    return Outcome(result=result, reports=reports)


def _train_beside(
    run: Run,
    other: Run,
    result: Result,
    folder: Path,
    material: Material,
    place: torch.device,
    display: Display,
    test: bool,
) -> Outcome:
    """Train the second run after the first, and judge both by the points of both."""
    display.say(f"then {run.second_model}: its points stand beside these")
    sets = material.sets.only(train=other.trained_structures, other=other.evaluated_structures)
    own = Material(material.kg, sets)
    after = train_run(
        other, folder / beside.BESIDE, device=str(place), test=False, display=display, material=own
    ).result
    if not after.finished:
        return Outcome(result=after, reports={})
    pair, facts = beside.joined(run, folder, "best", place)
    report = validation(run, pair, material.sets)() if "valid" in material.sets.splits else None
    if report is not None:
        display.say(f"both: validation MRR {100 * report.mrr:.2f}")
    beside.note_pair(folder, report)
    mrr = None if report is None else report.mrr
    file = beside.write_pair(folder, pair, {**facts, "valid_mrr": mrr})
    reports: dict[str, Report] = {}
    if test and "test" in material.sets.splits:
        with display.ranking(_RANKED) as told:
            for kind in beside.kinds(folder):
                ranked, its = (pair, facts) if kind == "best" else beside.joined(run, folder, kind, place)
                reports[kind] = rank_and_keep(run, ranked, material.sets, folder, kind, int(its["step"]), told)
    best = None if report is None else file
    both = replace(result, seconds=result.seconds + after.seconds, best=best, best_mrr=mrr)
    return Outcome(result=both, reports=reports)


def _first(run: Run, folder: Path, material: Material, device: str, display: Display) -> Result:
    """What a run starts from: a checkpoint that is there, or a run that is trained first in `folder`."""
    if found := first.there(run):
        return found
    before = first.first_run(run)
    display.say(f"first {run.start}: the tables start from what it learns")
    sets = material.sets.only(train=before.trained_structures, other=before.evaluated_structures)
    own = Material(material.kg, sets)
    return train_run(before, folder / START, device=device, test=False, display=display, material=own).result


def _source(path: Path, kg: KnowledgeGraph, device: torch.device) -> Model:
    """The model to start from, refused where its ids mean other things."""
    if checkpoint.read_facts(path)["method"] == Pair.name:
        raise ConfigError(
            f"{path} is two models side by side: start from one of them, {path.with_name('best.safetensors')} say"
        )
    model, facts = checkpoint.load_model(path, device)
    checkpoint.check_graph(facts, kg.vocabulary.fingerprint(), path, kg.name)
    return model


def training_set(run: Run, material: Material, device: torch.device) -> TrainingSet:
    """The queries that a run starts with, on the device, with all that its objective asks for."""
    kg, room = material.kg, ROOM if run.training.redraw_every else 0.0
    queries, removed = first_set(run, kg, material.sets["train"]), run.training.update.softmax.removed
    return TrainingSet.of(queries, kg.vocabulary.entity_count, device, room, removed)


def _told(
    run: Run, material: Material, device: torch.device, display: Display, test: bool
) -> tuple[KnowledgeGraph, QuerySets[Queries]]:
    """Say what is trained on, and what it is to be judged by."""
    kg, sets = material.kg, with_origins(run, material.sets)
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
    return kg, sets


def start_anew(folder: Path) -> None:
    """Delete the files of a run, and nothing else, from its folder; refused while another process trains there."""
    if not folder.is_dir():
        return
    with alone(folder):
        for name in ("last.safetensors", "best.safetensors", beside.PAIR, LOG):
            (folder / name).unlink(missing_ok=True)
        for pattern in ("tensorboard/events.out.tfevents.*", "test-*.json", "test-*.md"):
            for file in folder.glob(pattern):
                file.unlink()
        for another in (folder / START, folder / beside.BESIDE):
            start_anew(another)


def new_model(run: Run, kg: KnowledgeGraph, device: torch.device) -> Model:
    """A run's model with its first weights."""
    torch.manual_seed(run.training.seed)
    names = kg.vocabulary
    model = build(run.method, run.model_settings, entities=names.entity_count, relations=names.relation_count)
    return model.to(device)


def _facts(run: Run, kg: KnowledgeGraph, sets: QuerySets[Queries]) -> dict[str, Any]:
    """What every checkpoint of a run says of itself."""
    return {
        "version": __version__,
        "method": run.method,
        "model": run.model_settings,
        "entities": kg.vocabulary.entity_count,
        "relations": kg.vocabulary.relation_count,
        "fingerprint": kg.vocabulary.fingerprint(),
        "dataset": run.dataset,
        "queries": run.queries,
        "trained": list(run.trained_structures),
        "evaluated": list(run.evaluated_structures),
        "origin": dict(sets.sources),
        "settings": run.plain(),
    }
