"""From triples to an engine: hold out, draw questions, train, calibrate, index, report, write.

    engine = fit(kg, minutes=5)
    engine = fit(kg, out="films")      # the same call continues after an interruption

With `out`, work in progress lies in a folder beside it (`.films.fit`), where questions are kept and training saves
itself; everything else is made again from the same seed in seconds. The folder goes when the engine is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from pathformer import __version__
from pathformer.engine.assess import assess, with_times
from pathformer.engine.box import Box
from pathformer.engine.drawn import drawn_once
from pathformer.engine.engine import Engine
from pathformer.engine.heldout import Questions, draw_again, draw_questions, hold_out, to_learn
from pathformer.engine.links import start_from_links
from pathformer.engine.measure import MEASURES
from pathformer.engine.reindex import reindex
from pathformer.engine.scale import Scale, scale_for
from pathformer.engine.sizes import memory_of
from pathformer.engine.stages import Stages
from pathformer.engine.storage import HEADER, retell
from pathformer.engine.workshop import workshop
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.index import build as build_index
from pathformer.index import find as find_index
from pathformer.kg.atomic import check_target
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models import Model, build
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.training import checkpoint
from pathformer.training.data import TrainingSet
from pathformer.training.device import choose_device, free_threads
from pathformer.training.display import Display
from pathformer.training.fresh import ROOM
from pathformer.training.loop import Result, Task, train

__all__ = ["METHOD", "assembled", "fit", "new_model", "train_in"]

METHOD = "pathformer"
_DRAWINGS = len(EFOL_TRAINED) + 4 * len(STRUCTURES)  # structures that `draw_questions` tells of
_STAGES = 5
_VALIDATED = 60  # queries of a structure that the best weights are picked by


def fit(
    kg: KnowledgeGraph,
    minutes: float | None = None,
    *,
    out: str | Path | None = None,
    index: str = "exact",
    device: str = "auto",
    seed: int = 0,
    force: bool = False,
    fresh: bool = False,
    progress: bool = True,
    scale: Scale | None = None,
) -> Engine:
    """Learn a graph and return an engine that answers questions about it.

    kg: with parts `valid` and `test` of its own, or without: then a twentieth of it is held out for each,
        a tenth of a small one.
    minutes: about how long in all; by the size of the graph if not given.
    out: a folder for the engine; without it nothing is written, and an interruption loses the work.
    index: how the nearest entities are found: exact, lsh, hnsw.
    force: replace an engine that is there; fresh: forget an unfinished fit.
    scale: settings of one's own instead of those for the graph's size.
    """
    target = None if out is None else Path(out)
    find_index(index)  # a name that is none is refused before any work
    if target is not None:
        check_target(target, HEADER, force=force)
    place = choose_device(device)
    sizes = scale or scale_for(
        entities=kg.vocabulary.entity_count,
        triples=kg.triple_count,
        minutes=minutes,
        cuda=place.type == "cuda",
        memory=memory_of(place),
        seed=seed,
    )
    stages, box = Stages(Console(stderr=True, quiet=not progress), count=_STAGES), Box.of(sizes.minutes)
    with (
        stages.stoppable(kept=target is not None),
        workshop(target, kg, sizes, fresh=fresh) as folder,
        free_threads(),
    ):
        stages.keep(folder)
        with stages.stage("holding out"):
            parts = hold_out(kg, sizes.held_out, seed)
        with stages.stage("drawing questions", _DRAWINGS) as advance:
            questions = drawn_once(folder, parts, lambda: draw_questions(parts, sizes, seed, advance, box))
        model = new_model(parts, sizes, place)
        with stages.training() as display:
            timed = sizes.timed(box.training(sizes.training, folder))
            result = train_in(folder, model, parts, questions, timed, place, display)
        with stages.stage("measuring and calibrating", MEASURES) as advance:
            engine = assembled(parts, model, questions, sizes, result, stages, advance, box.measuring)
            engine = engine if index == "exact" else reindex(engine, index)
        engine = with_times(engine, stages.seconds)
        if target is not None:
            with stages.stage("writing"):
                engine.save(target, force=force)
            engine = with_times(engine, stages.seconds)  # that of writing among them
            retell(engine.parts, target)
    return engine


def assembled(
    kg: KnowledgeGraph,
    model: Model,
    questions: Questions,
    scale: Scale,
    result: Result,
    stages: Stages,
    advance: Callable[[str], None],
    seconds: float | None = None,
    *,
    grown: bool = False,
) -> Engine:
    """A trained model, measured and calibrated, over an exact index; seconds, grown: as in `assess`."""
    bare = Engine(kg, model, build_index("exact", model.entities.weight.detach().cpu(), model.space))
    assessed = assess(bare, questions, scale, result, stages, advance, seconds, grown=grown)
    return Engine(kg, model, bare.index, assessed.calibration, assessed.about, assessed.files)


def new_model(kg: KnowledgeGraph, scale: Scale, device: torch.device) -> Model:
    """A model that knows nothing yet."""
    torch.manual_seed(scale.training.seed)
    names = kg.vocabulary
    return build(METHOD, scale.model, entities=names.entity_count, relations=names.relation_count).to(device)


def train_in(
    folder: Path,
    model: Model,
    kg: KnowledgeGraph,
    questions: Questions,
    scale: Scale,
    device: torch.device,
    display: Display,
    moved: Mapping[str, Tensor] | None = None,
) -> Result:
    """Train in a folder, or continue there, and leave the best weights in the model; Ctrl-C goes on to the caller.

    moved: rows that are trained, as in `Task`; without it, all of them.
    """
    facts = {
        "version": __version__,
        "method": model.name,
        "model": dict(scale.model),
        "entities": kg.vocabulary.entity_count,
        "relations": kg.vocabulary.relation_count,
        "fingerprint": kg.vocabulary.fingerprint(),
        "dataset": kg.name,
    }
    if scale.links is not None:
        display.say("single links first, then questions of all kinds: the figures of the two are not comparable")
        start_from_links(
            folder / "links", model, questions, scale.links, facts, device, display.labelled("single links")
        )
        display = display.labelled("questions")
    learned = to_learn(kg, questions.train.values(), scale)
    removed = scale.training.update.softmax.removed
    task = Task(
        model=model,
        data=TrainingSet.of(learned, kg.vocabulary.entity_count, device, ROOM, removed),
        facts=facts,
        validate=_validation(model, questions) if questions.valid else None,
        draw=partial(draw_again, kg, questions.train, scale, scale.training.seed),
        moved=moved,
    )
    result = train(task, scale.training, folder / "training", display)
    if not result.finished:
        raise KeyboardInterrupt
    weights = result.best or result.last
    if weights.is_file():  # none where the time was too short for a single step
        model.load_state_dict(checkpoint.read(weights, device).part("model"))
    model.eval()
    return result


def _validation(model: Model, questions: Questions) -> Any:
    asked = {name: some.take(np.arange(min(_VALIDATED, len(some)))) for name, some in questions.valid.items()}
    return lambda: evaluate(ModelRanker(model), asked)
