"""From triples to an engine: hold out, draw questions, train, calibrate, index, report, write.

    engine = fit(kg, minutes=5)
    engine = fit(kg, out="films")      # the same call continues after an interruption

With `out`, work in progress lies in a folder beside it (`.films.fit`), where questions are kept and training saves
itself; everything else is made again from the same seed in seconds. The folder goes when the engine is written.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from pathformer.engine.engine import Engine
from pathformer.engine.storage import HEADER
from pathformer.errors import InputError
from pathformer.files.atomic import check_target
from pathformer.fitting.assessment import assess, with_report
from pathformer.fitting.evidence import learn_sources
from pathformer.fitting.heldout import draw_questions, hold_out, load_or_draw
from pathformer.fitting.learn import learn, new_model, time_for_training
from pathformer.fitting.links import learn_links
from pathformer.fitting.measuring import MEASURES
from pathformer.fitting.reindex import reindex
from pathformer.fitting.settings import MEASURING, FitSettings, memory_of, settings_for
from pathformer.fitting.stages import LINKS, Stages
from pathformer.fitting.workspace import open_workspace
from pathformer.index._base import find as find_index
from pathformer.kg.holdout import check_seed
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.nn.device import choose_device, free_threads
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.training.budget import TimeBudget

__all__ = ["fit"]

_DRAWINGS = len(EFOL_TRAINED) + 4 * len(STRUCTURES)  # structures that `draw_questions` tells of
_STAGES = 7


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
    settings: FitSettings | None = None,
) -> Engine:
    """Learns a graph and returns an engine that answers questions about it.

    kg: with parts `valid` and `test`, or without; then a twentieth of it is held out for each, a tenth of a small one.
    minutes: about how long the fit may take in all; by default the size of the graph decides.
    out: the folder for the engine; without it nothing is written, and an interruption loses the work.
    index: how the nearest entities are found: exact, lsh, hnsw.
    force: replace the engine in `out`; fresh: forget an unfinished fit.
    settings: your own settings; by default the size of the graph decides.
    """
    _check_graph(kg)
    check_seed(seed)
    target = None if out is None else Path(out)
    find_index(index)  # an unknown name is refused before any work
    if target is not None:
        check_target(target, HEADER, force=force)
    device_here = choose_device(device)
    chosen = settings or settings_for(
        entities=kg.vocabulary.entity_count,
        triples=kg.triple_count,
        minutes=minutes,
        cuda=device_here.type == "cuda",
        memory=memory_of(device_here),
        seed=seed,
    )
    stages = Stages(Console(stderr=True, quiet=not progress), count=_STAGES)
    budget = TimeBudget.of_minutes(chosen.minutes)
    with (
        stages.stoppable(kept=target is not None),
        open_workspace(target, kg, chosen, fresh=fresh) as folder,
        free_threads(),
    ):
        stages.keep(folder)
        with stages.stage("holding out"):
            parts = hold_out(kg, chosen.held_out, seed)
        stages.say_compiling()
        with stages.stage("drawing questions", _DRAWINGS) as advance:
            questions = load_or_draw(folder, parts, lambda: draw_questions(parts, chosen, seed, advance, budget))
        with stages.training(LINKS) as display:
            timed = time_for_training(chosen, budget, folder)
            sources = learn_sources(folder, parts, questions, timed, device_here, display)
        with stages.stage("weighing the evidence"):
            links = learn_links(parts, sources.made, sources.relearned, seed)
        model = new_model(parts, chosen, device_here)
        with stages.training() as display:
            result = learn(folder, model, parts, questions, timed, display, start=sources.start)
        with stages.stage("measuring and calibrating", MEASURES) as advance:
            engine, report = assess(
                model, parts, questions, chosen, result, stages, advance, budget.part(MEASURING), links=links
            )
            engine = engine if index == "exact" else reindex(engine, index)
        engine = with_report(engine, replace(report, seconds=dict(stages.seconds)))
        if target is not None:
            with stages.stage("writing"):
                engine.save(target, force=force)
    return engine


def _check_graph(kg: object) -> None:
    if not isinstance(kg, KnowledgeGraph):
        example = (
            f"KnowledgeGraph.read({str(kg)!r})" if isinstance(kg, str | Path) else "KnowledgeGraph.from_triples(...)"
        )
        raise InputError(f"fit takes a KnowledgeGraph, not a {type(kg).__name__}: make one with {example}")
