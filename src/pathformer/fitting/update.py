"""Updates an engine whose graph grew: it learns more triples without starting over.

Old entities and relations keep their ids. A new entity starts where the model itself expects it: at the mean of what it
predicts for the questions that the entity's triples answer. Then a short training runs over the whole graph, with new
links more often than old ones, so that the new is learned and the old is not forgotten (`engine.settings_for_update`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import torch
from rich.console import Console

from pathformer.engine.engine import Engine
from pathformer.engine.history import FirstFit, first_facts
from pathformer.engine.storage import HEADER, read_header
from pathformer.errors import InputError
from pathformer.evaluation.evaluate import ModelRanker, ScoreRanker, evaluate
from pathformer.files.atomic import check_target
from pathformer.fitting.assessment import assess, with_report
from pathformer.fitting.change import Change
from pathformer.fitting.heldout import (
    draw_held_out,
    draw_questions,
    drop_new_entities,
    load_or_draw,
    refresh_answers,
)
from pathformer.fitting.learn import learn, time_for_training
from pathformer.fitting.measuring import MEASURES
from pathformer.fitting.new_entities import grow_model, initialise_new_entities
from pathformer.fitting.reindex import reindex, takes
from pathformer.fitting.report import FitReport
from pathformer.fitting.settings import MEASURING, FitSettings
from pathformer.fitting.stages import Stages
from pathformer.fitting.update_settings import has_hops, oversample_new_links, row_rates, settings_for_update
from pathformer.fitting.workspace import open_workspace, reserve
from pathformer.kg.arrow import array_of
from pathformer.kg.grow import Grown, grow
from pathformer.kg.holdout import check_seed, spell_out
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.frequency import Frequency
from pathformer.models._base import Model
from pathformer.models._encoder import model_of
from pathformer.nn.device import choose_device, free_threads
from pathformer.plan.encoder import FULL
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets, graph_pair
from pathformer.querysets.sampler import sample
from pathformer.text import counted
from pathformer.training.budget import TimeBudget

__all__ = ["update_engine", "warn_about_unknown_names"]

_STAGES = 5


def update_engine(
    engine: str | Path,
    more: KnowledgeGraph,
    minutes: float | None = None,
    *,
    out: str | Path | None = None,
    device: str = "auto",
    seed: int = 0,
    fresh: bool = False,
    progress: bool = True,
) -> Engine:
    """Teaches an engine more triples and writes it back, or to `out`; the same call continues after an interruption.

    out: another folder for the updated engine; it gets a copy if there is nothing to learn.
    minutes: about how long the update may take in all; by default 15 % of the first fit's time.
    """
    check_seed(seed)
    target, place, start = Path(out or engine), choose_device(device), time.monotonic()
    before = _state(Path(engine))
    old = Engine.open(engine, str(place))
    _refuse_release(old, engine)
    check_target(target, HEADER, force=True)
    stages = Stages(Console(stderr=True, quiet=not progress), count=_STAGES)
    with stages.stage("joining the graphs"):
        grown = grow(old.kg, more, seed=seed)

    def check_unchanged() -> None:
        if _state(Path(engine)) != before:
            raise InputError(f"another command changed {engine} meanwhile: update it again with the same triples")

    if not len(grown.triples):
        elsewhere = os.path.realpath(target) != os.path.realpath(engine)
        return _add_labels(old, grown, target, stages, check_unchanged, elsewhere=elsewhere)
    if warning := warn_about_unknown_names(old.kg.vocabulary, more.vocabulary):
        stages.say(warning)
    settings = settings_for_update(old, grown, minutes, place, seed)
    budget = TimeBudget.of_minutes(settings.minutes)
    with (
        stages.stoppable(kept=True),
        open_workspace(target, grown.kg, settings, fresh=fresh, check=check_unchanged) as folder,
        free_threads(),
    ):
        stages.keep(folder)
        updated, report, change = _learn(old, grown, settings, budget, folder, stages, place)
        times = dict(stages.seconds)
        change = replace(change, seconds=max(time.monotonic() - start, sum(times.values())))  # of all sessions
        about = {**updated.about, **first_facts(old.about), "updates": [*old.about.get("updates", []), asdict(change)]}
        updated = Engine.of(replace(updated.parts, about=about))
        updated = with_report(updated, replace(report, seconds=times, first=FirstFit.of(about)))
        with stages.stage("writing"):
            updated.save(target, force=True)
    stages.say("\n".join(filter(None, (change.sentence(), change.advice()))))
    return updated


def _state(engine: Path) -> tuple[dict[str, Any], int]:
    """Returns the header of an engine's folder and when it was written, which new labels change, too."""
    return read_header(engine), (engine / HEADER).stat().st_mtime_ns


def _refuse_release(old: Engine, folder: str | Path) -> None:
    if old.encoder.form != FULL and "card" in old.about:
        raise InputError(
            f"{folder} is a release in {old.encoder.form} of a run of `pathformer train`: its weights were rounded, "
            "so it cannot be updated. Fit the larger graph with `pathformer fit TRIPLES --out DIR`"
        )
    if old.encoder.form != FULL:
        raise InputError(
            f"{folder} is a release in {old.encoder.form}: its weights were rounded, so it cannot be updated. "
            "Update the engine that it was made from, then release that again"
        )


def _add_labels(
    old: Engine, grown: Grown, target: Path, stages: Stages, unchanged: Callable[[], None], *, elsewhere: bool
) -> Engine:
    """Adds the new labels to an engine that knows all of the triples; nothing is learned.

    elsewhere: whether the target is another folder, which gets a copy even without new labels.
    """
    before, after = old.kg.vocabulary, grown.kg.vocabulary
    added = after.labelled - before.labelled
    known = "The engine already knows all of these triples."
    if not added and not elsewhere:
        stages.say(f"{known} Nothing was changed.")
        return old
    kg = old.kg.with_labels(after.labels, after.relation_labels) if added else old.kg
    renewed = Engine.of(replace(old.parts, kg=kg))
    with reserve(target, unchanged):
        renewed.save(target, force=True)
    what = f"{counted(added, 'label was', 'labels were')} added" if added else f"{target} is a copy"
    stages.say(f"{known} {what}.")
    return renewed


def _learn(
    old: Engine,
    grown: Grown,
    settings: FitSettings,
    budget: TimeBudget,
    folder: Path,
    stages: Stages,
    device: torch.device,
) -> tuple[Engine, FitReport, Change]:
    """Trains and measures an engine of the larger graph; returns its report and the change without their times."""
    questions, held = _questions(old, grown, settings, budget, folder, stages)
    learned = model_of(old.encoder)
    before = _mrr(learned, drop_new_entities(held, old.encoder.entity_count))
    model = grow_model(learned, grown.kg).to(device)
    initialise_new_entities(model, grown.kg.graph("train"), old.kg.vocabulary.entity_count)
    with stages.training() as display:
        timed = time_for_training(settings, budget, folder)
        result = learn(folder, model, grown.kg, questions, timed, display, row_rates(model, grown))
    with stages.stage("measuring and calibrating", MEASURES) as advance:
        updated, report = assess(
            model,
            grown.kg,
            questions,
            settings,
            result,
            stages,
            advance,
            budget.part(MEASURING),
            old=old.about,
        )
        after = _mrr(model, held)
        new, counting = _new_links(model, grown)
    change = Change(
        triples=len(grown.triples),
        entities=grown.entities,
        relations=grown.relations,
        before=before,
        after=after,
        new=new,
        counting=counting,
        seconds=0.0,
        steps=result.step,
        date=datetime.now(UTC).date().isoformat(),
    )
    return _with_index_like(old, updated), report, change


def _questions(
    old: Engine, grown: Grown, settings: FitSettings, budget: TimeBudget, folder: Path, stages: Stages
) -> tuple[QuerySets[Queries], dict[str, Queries]]:
    """Draws the questions of the update, and the old held-out questions, which show whether anything was forgotten."""
    seed = settings.training.seed
    taken = tuple(name for name, structure in STRUCTURES.items() if takes(old.encoder, structure))
    learned = tuple(name for name in (("1p",) if has_hops(old) else EFOL_TRAINED) if name in taken)
    stages.say_compiling()
    with stages.stage("drawing questions", len(learned) + 4 * len(taken)) as advance:
        drawn = load_or_draw(
            folder, grown.kg, lambda: draw_questions(grown.kg, settings, seed, advance, budget, learned, taken)
        )
        held = refresh_answers(draw_held_out(old.kg, "test", settings.held_out_per_structure, seed, taken), grown.kg)
        return oversample_new_links(drawn, grown), held


def _mrr(model: Model, held: Mapping[str, Queries]) -> float | None:
    return evaluate(ModelRanker(model), held).mrr if held else None


def _new_links(model: Model, grown: Grown) -> tuple[float | None, float | None]:
    """Returns the MRR on held-out links with a new anchor or answer, of the model and of the counting baseline."""
    if not grown.entities or "test" not in grown.kg.splits:
        return None, None
    links = sample(STRUCTURES["1p"], graph_pair(spell_out(grown.kg), "test"), None, stream="test")
    first = grown.kg.vocabulary.entity_count - grown.entities
    newest = links.hard.values[links.hard.ptr[1:] - 1]  # answers ascend, and each link has one that is missing
    chosen = np.flatnonzero((links.ids[:, 0] >= first) | (newest >= first))
    if not len(chosen):
        return None, None
    asked: Mapping[str, Queries] = {"1p": links.take(chosen)}
    counted = evaluate(ScoreRanker(Frequency(grown.kg.graph("train"))), asked)
    return evaluate(ModelRanker(model), asked).mrr, counted.mrr


def _with_index_like(old: Engine, updated: Engine) -> Engine:
    """Gives the updated engine an index like the old one: the options that were asked for, and what was removed."""
    given = old.index.given
    if old.index.name != "exact" or given != type(given)():
        updated = reindex(updated, old.index.name, [f"{option}={value}" for option, value in asdict(given).items()])
    updated.index.remove(old.index.removed)
    return updated


def warn_about_unknown_names(old: Vocabulary, more: Vocabulary) -> str:
    """Warns if no entity of new triples is known, or if new entities have the labels of old ones as names.

    Both may be meant, so the update goes on. But a file from another export, or one that names entities by their
    labels, would add a second graph beside the engine's own.
    """
    given = array_of(more.entities)
    new = given.filter(pc.invert(pc.is_in(given, value_set=array_of(old.entities))))
    if len(new) == len(given):
        return (
            f"Warning: the engine knows no entity of these triples. They have names like {more.entity(0)!r}, "
            f"the engine has names like {old.entity(0)!r}. Check that both use the same names."
        )
    if old.labels is None:
        return ""
    owners = pc.index_in(new, value_set=array_of(old.labels))
    found = owners.is_valid()
    names = new.filter(found)
    if not len(names):
        return ""
    these = counted(len(names), "new entity has", "new entities have")
    owner = old.entity(owners.filter(found)[0].as_py())
    return (
        f"Warning: {these} the label of a known entity as name: {names[0].as_py()!r} is the label of {owner!r}. "
        "Triples must use names, not labels."
    )
