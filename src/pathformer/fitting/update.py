"""Updates an engine whose facts come and go, without starting over.

    update("films", KnowledgeGraph.read("new.tsv"))                        # learns more facts
    update("films", remove=KnowledgeGraph.read("wrong.tsv"))               # takes facts away, and learns that
    update("films", KnowledgeGraph.read("new.tsv"), train=False)           # in seconds; the next update learns them

Old entities and relations keep their ids. What is taken away goes first, then the new comes. The engine is replaced as
a whole, or not at all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from pathformer.engine.engine import Engine
from pathformer.engine.history import FirstFit, first_facts
from pathformer.engine.storage import HEADER, open_parts, read_header
from pathformer.errors import InputError
from pathformer.files.atomic import check_target
from pathformer.fitting.assessment import with_report
from pathformer.fitting.change import Change, untrained_since
from pathformer.fitting.settings import check_minutes
from pathformer.fitting.stages import Stages
from pathformer.fitting.unknown_names import warn_about_unknown_names
from pathformer.fitting.untrained import add_untrained, change_facts
from pathformer.fitting.update_settings import settings_for_update
from pathformer.fitting.update_training import train_update
from pathformer.fitting.workspace import open_workspace, reserve
from pathformer.kg.grow import Grown, grow
from pathformer.kg.holdout import check_seed
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.shrink import Shrunk, shrink
from pathformer.models._encoder import TorchEncoder
from pathformer.nn.device import choose_device, free_threads
from pathformer.plan.encoder import FULL
from pathformer.text import counted
from pathformer.training.budget import TimeBudget

__all__ = ["update"]

_STAGES, _OF_LINKS, _UNTRAINED = 5, 2, 2


def update(
    engine: str | Path,
    more: KnowledgeGraph | None = None,
    minutes: float | None = None,
    *,
    remove: KnowledgeGraph | None = None,
    train: bool = True,
    out: str | Path | None = None,
    device: str = "auto",
    seed: int = 0,
    fresh: bool = False,
    progress: bool = True,
) -> Engine:
    """Changes the facts of an engine and writes it back, or to `out`; the same call continues after an interruption.

    more: triples to add; remove: triples to take away; with neither it learns what was changed without training.
    train: False changes everything but what embeddings know, in seconds; the next update with training learns that.
    out: another folder for the updated engine; it gets a copy if there is nothing to learn.
    minutes: about how long the update may take in all; by default 15 % of the first fit's time.
    """
    check_seed(seed)
    check_minutes(minutes)
    target, place, start = Path(out or engine), choose_device(device), time.monotonic()
    before = _state(Path(engine))
    old = Engine.of(open_parts(Path(engine), str(place), opened_by=TorchEncoder))
    _refuse(old, engine, train=train)
    check_target(target, HEADER, force=True)
    parts = _OF_LINKS if old.links is not None else 0
    stages = Stages(Console(stderr=True, quiet=not progress), count=_STAGES + parts if train else _UNTRAINED)
    with stages.stage("changing the graph"):
        shrunk = None if remove is None else shrink(old.kg, remove)
        grown = _grow(old, shrunk, more, seed)
    _tell_of_strangers(old, more, remove, shrunk, stages)

    def check_unchanged() -> None:
        if _state(Path(engine)) != before:
            raise InputError(f"another command changed {engine} meanwhile: update it again with the same triples")

    changed = len(grown.triples) or len(grown.removed)
    if not changed and not (train and untrained_since(old.about).changed):
        elsewhere = os.path.realpath(target) != os.path.realpath(engine)
        known = "" if more is None else "The engine already knows all of these triples. "
        return _add_labels(old, grown, target, stages, check_unchanged, known, elsewhere=elsewhere)
    if not train:
        return _write_untrained(old, grown, target, stages, check_unchanged, place, start)
    grown = add_untrained(old, grown)
    settings = settings_for_update(old, grown, minutes, place, seed)
    budget = TimeBudget.of_minutes(settings.minutes)
    with (
        stages.stoppable(kept=True),
        open_workspace(target, grown.kg, settings, fresh=fresh, check=check_unchanged) as folder,
        free_threads(),
    ):
        stages.keep(folder)
        updated, report, change = train_update(old, grown, settings, budget, folder, stages, place)
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


def _refuse(old: Engine, folder: str | Path, *, train: bool) -> None:
    """Refuses a release, and to train an engine without points."""
    if old.finders.points is None:
        if train:
            raise InputError(
                f"{folder} predicts single links alone, and an update trains what longer questions need, which it "
                "lacks: change its facts with --no-train, or fit the changed graph with `pathformer fit TRIPLES`"
            )
        return
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


def _grow(old: Engine, shrunk: Shrunk | None, more: KnowledgeGraph | None, seed: int) -> Grown:
    """Adds triples to what the removal left."""
    kg = old.kg if shrunk is None else shrunk.kg
    grown = Grown(kg) if more is None else grow(kg, more, seed=seed)
    return grown if shrunk is None else replace(grown, removed=shrunk.triples)


def _tell_of_strangers(
    old: Engine, more: KnowledgeGraph | None, remove: KnowledgeGraph | None, shrunk: Shrunk | None, stages: Stages
) -> None:
    """Says which triples to take away are not there, and warns of names that the engine does not have."""
    if more is not None and (warning := warn_about_unknown_names(old.kg.vocabulary, more.vocabulary)):
        stages.say(warning)
    if remove is None or shrunk is None or not shrunk.absent:
        return
    there, given = len(shrunk.triples), shrunk.absent + len(shrunk.triples)
    if given == 1:
        stages.say("The engine does not have the triple to take away.")
    else:
        stages.say(f"The engine has {f'{there:,}' if there else 'none'} of the {given:,} triples to take away.")
    if there:
        return
    if warning := warn_about_unknown_names(old.kg.vocabulary, remove.vocabulary):
        stages.say(warning)


def _add_labels(
    old: Engine,
    grown: Grown,
    target: Path,
    stages: Stages,
    unchanged: Callable[[], None],
    known: str,
    *,
    elsewhere: bool,
) -> Engine:
    """Adds the new labels to an engine whose facts stay as they are; nothing is learned.

    known: a sentence to begin with; elsewhere: whether the target is another folder, which gets a copy even without
    new labels.
    """
    before, after = old.kg.vocabulary, grown.kg.vocabulary
    added = after.labelled - before.labelled
    if not added and not elsewhere:
        stages.say(f"{known}Nothing was changed.")
        return old
    kg = old.kg.with_labels(after.labels, after.relation_labels) if added else old.kg
    renewed = Engine.of(replace(old.parts, kg=kg))
    with reserve(target, unchanged):
        renewed.save(target, force=True)
    what = f"{counted(added, 'label was', 'labels were')} added" if added else f"{target} is a copy"
    stages.say(f"{known}{what}.")
    return renewed


def _write_untrained(
    old: Engine,
    grown: Grown,
    target: Path,
    stages: Stages,
    unchanged: Callable[[], None],
    device: Any,
    start: float,
) -> Engine:
    """Changes everything but what embeddings know, and writes the engine."""

    def header() -> dict[str, Any]:
        return {**old.about, "updates": [*old.about.get("updates", []), asdict(change)]}

    change = Change.untrained(grown, 0.0, datetime.now(UTC).date().isoformat())
    with reserve(target, unchanged), stages.stage("evidence and writing"):
        updated = change_facts(old, grown, header(), device)
        change = replace(change, seconds=time.monotonic() - start)
        updated = Engine.of(replace(updated.parts, about=header()))
        updated.save(target, force=True)
    stages.say(change.sentence())
    return updated
