"""A graph that grew: an engine learns more triples without starting over.

Old entities and relations keep their ids. A new entity starts where the model itself expects it: at the mean of what it
predicts for the questions that the entity's own triples answer. Then a short training goes over the whole graph, new
links more often than old ones, so that the new is learned and the old is not forgotten (`engine.settings_for_update`).

What an update may spell otherwise than the engine's graph: a name is the same where it is spelled the same.
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
from pathformer.engine.storage import HEADER, read_header, rewrite_header
from pathformer.errors import InputError
from pathformer.evaluation.evaluate import ModelRanker, ScoreRanker, evaluate
from pathformer.files.atomic import check_target
from pathformer.fitting.assessment import assess, with_times
from pathformer.fitting.change import Change
from pathformer.fitting.heldout import (
    draw_held_out,
    draw_questions,
    drop_new_entities,
    load_or_draw,
    refresh_answers,
)
from pathformer.fitting.learn import learn, time_for_training
from pathformer.fitting.measure import MEASURES
from pathformer.fitting.new_entities import grow_model, place_new
from pathformer.fitting.reindex import reindex, takes
from pathformer.fitting.settings import MEASURING, FitSettings
from pathformer.fitting.stages import Stages
from pathformer.fitting.update_settings import has_hops, oversample_new_links, row_rates, settings_for_update
from pathformer.fitting.workspace import reserved, workshop
from pathformer.kg.arrow import array_of
from pathformer.kg.grow import Grown, grow
from pathformer.kg.holdout import check_seed
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.evidence.counts import Frequency
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

__all__ = ["strangers", "update_engine"]

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
    """Teach an engine's folder more triples and write it back, or to `out`; the same call continues if interrupted.

    out: another folder, which then holds an engine in any case: a copy where there is nothing to learn.
    minutes: about how long in all; 15 % of the first fit's time if not given.
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

    def unchanged() -> None:
        if _state(Path(engine)) != before:
            raise InputError(f"another command changed {engine} meanwhile: update it again, with the same triples")

    if not len(grown.triples):
        elsewhere = os.path.realpath(target) != os.path.realpath(engine)
        return _relabelled(old, grown, target, stages, unchanged, elsewhere=elsewhere)
    if told := strangers(old.kg.vocabulary, more.vocabulary):
        stages.say(told)
    settings = settings_for_update(old, grown, minutes, place, seed)
    budget = TimeBudget.of_minutes(settings.minutes)
    with (
        stages.stoppable(kept=True),
        workshop(target, grown.kg, settings, fresh=fresh, check=unchanged) as folder,
        free_threads(),
    ):
        stages.keep(folder)
        learnt, change = _learn(old, grown, settings, budget, folder, stages, place)
        with stages.stage("writing"):
            _told(old, learnt, _timed(change, stages, start), stages).save(target, force=True)
        change = _timed(change, stages, start)  # that of writing among it
        renewed = _told(old, learnt, change, stages)
        rewrite_header(renewed.parts, target)
    stages.say("\n".join(filter(None, (change.sentence(), change.advice()))))
    return renewed


def _state(engine: Path) -> tuple[dict[str, Any], int]:
    """What an engine's folder says of itself, and when it was written: labels alone change nothing of the former."""
    return read_header(engine), (engine / HEADER).stat().st_mtime_ns


def _refuse_release(old: Engine, folder: str | Path) -> None:
    if old.encoder.form != FULL and "card" in old.about:
        raise InputError(
            f"{folder} is a release in {old.encoder.form} of a run of `pathformer train`, whose weights were rounded: "
            "fit the grown graph with `pathformer fit TRIPLES --out DIR`, an engine that can be updated"
        )
    if old.encoder.form != FULL:
        raise InputError(
            f"{folder} is a release in {old.encoder.form}, whose weights were rounded: "
            "update the engine that it was made from, then release that again"
        )


def _relabelled(
    old: Engine, grown: Grown, target: Path, stages: Stages, unchanged: Callable[[], None], *, elsewhere: bool
) -> Engine:
    """An engine that knows all triples already, with the labels that come with them; nothing is learned for these.

    elsewhere: whether it is written to another folder than its own, which is done without new labels, too.
    """
    before, after = old.kg.vocabulary, grown.kg.vocabulary
    added = after.labelled - before.labelled
    known = "the engine knows all of these triples already"
    if not added and not elsewhere:
        stages.say(f"{known}: nothing was changed")
        return old
    kg = old.kg.with_labels(after.labels, after.relation_labels) if added else old.kg
    renewed = Engine.of(replace(old.parts, kg=kg))
    with reserved(target, unchanged):
        renewed.save(target, force=True)
    what = f"{counted(added, 'label was', 'labels were')} added" if added else f"{target} is a copy of it"
    stages.say(f"{known}; {what}")
    return renewed


def _learn(
    old: Engine,
    grown: Grown,
    settings: FitSettings,
    budget: TimeBudget,
    folder: Path,
    stages: Stages,
    device: torch.device,
) -> tuple[Engine, Change]:
    """An engine of the larger graph, trained and measured, and what has changed; how long it took is not known yet."""
    questions, held = _questions(old, grown, settings, budget, folder, stages)
    learned = model_of(old.encoder)
    before = _mrr(learned, drop_new_entities(held, old.encoder.entity_count))
    model = grow_model(learned, grown.kg).to(device)
    place_new(model, grown.kg.graph("train"), old.kg.vocabulary.entity_count)
    with stages.training() as display:
        timed = time_for_training(settings, budget, folder)
        result = learn(folder, model, grown.kg, questions, timed, display, row_rates(model, grown))
    with stages.stage("measuring and calibrating", MEASURES) as advance:
        learnt = assess(
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
    return _indexed_as(old, learnt), change


def _questions(
    old: Engine, grown: Grown, settings: FitSettings, budget: TimeBudget, folder: Path, stages: Stages
) -> tuple[QuerySets[Queries], dict[str, Queries]]:
    """What is learned from and judged by, and the old held-out questions, to tell whether anything was forgotten."""
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
    """MRR of the held-out links whose anchor or whose answer is new, and what counting gives for them."""
    if not grown.entities or "test" not in grown.kg.splits:
        return None, None
    links = sample(STRUCTURES["1p"], graph_pair(grown.kg, "test"), None, stream="test")
    first = grown.kg.vocabulary.entity_count - grown.entities
    newest = links.hard.values[links.hard.ptr[1:] - 1]  # answers ascend, and each link has one that is missing
    chosen = np.flatnonzero((links.ids[:, 0] >= first) | (newest >= first))
    if not len(chosen):
        return None, None
    asked: Mapping[str, Queries] = {"1p": links.take(chosen)}
    counted = evaluate(ScoreRanker(Frequency(grown.kg.graph("train"))), asked)
    return evaluate(ModelRanker(model), asked).mrr, counted.mrr


def _indexed_as(old: Engine, renewed: Engine) -> Engine:
    """The new engine with an index like the old one's: its options as they were asked for, and what was removed."""
    given = old.index.given
    if old.index.name != "exact" or given != type(given)():
        renewed = reindex(renewed, old.index.name, [f"{option}={value}" for option, value in asdict(given).items()])
    renewed.index.remove(old.index.removed)
    return renewed


def _timed(change: Change, stages: Stages, start: float) -> Change:
    """The change with the time since `start`, or of all sittings where there were several."""
    return replace(change, seconds=max(time.monotonic() - start, sum(stages.seconds.values())))


def _told(old: Engine, learnt: Engine, change: Change, stages: Stages) -> Engine:
    """The engine that says what was done; what its first fit was asked and had stays as it was."""
    updates = [*old.about.get("updates", []), asdict(change)]
    about = {**learnt.about, **first_facts(old.about), "updates": updates}
    timed = with_times(learnt, stages.seconds, FirstFit.of(about))
    return Engine(timed.kg, timed.encoder, timed.index, timed.calibration, about, timed.files)


def strangers(old: Vocabulary, more: Vocabulary) -> str:
    """A sentence where more triples know no old entity, or where new entities are called like the labels of old ones.

    Either may be meant, and an update goes on; but a file of another export, or one that names entities by their
    labels, would leave the engine with a second graph beside its own.
    """
    given = array_of(more.entities)
    new = given.filter(pc.invert(pc.is_in(given, value_set=array_of(old.entities))))
    if len(new) == len(given):
        return (
            f"no entity of these triples is known to the engine: they have names such as {more.entity(0)!r}, "
            f"its own are such as {old.entity(0)!r}"
        )
    if old.labels is None:
        return ""
    owners = pc.index_in(new, value_set=array_of(old.labels))
    found = owners.is_valid()
    names = new.filter(found)
    if not len(names):
        return ""
    these = counted(len(names), "new entity is", "new entities are")
    owner = old.entity(owners.filter(found)[0].as_py())
    return (
        f"{these} called like the label of an old one, {names[0].as_py()!r} like that of {owner!r}: "
        "triples tell an entity by its name"
    )
