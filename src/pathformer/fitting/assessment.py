"""Makes an engine of a trained model: measures it on held-out questions, calibrates it, and writes its report once."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import torch

from pathformer import __version__
from pathformer.engine.calibrate.reliability import draw_reliability
from pathformer.engine.engine import Engine
from pathformer.engine.history import learned_structures
from pathformer.fitting.links import LearnedLinks
from pathformer.fitting.measuring import Measured, measure
from pathformer.fitting.notes import notes_on
from pathformer.fitting.report import FitReport
from pathformer.fitting.restated import restated_relations
from pathformer.fitting.settings import FitSettings
from pathformer.fitting.stages import Stages
from pathformer.index._base import build_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model
from pathformer.models._encoder import TorchEncoder, model_of
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.text import counted
from pathformer.training.machine import commit
from pathformer.training.settings import Result

__all__ = ["assess", "with_report"]


def assess(
    model: Model,
    kg: KnowledgeGraph,
    questions: QuerySets[Queries],
    settings: FitSettings,
    result: Result,
    stages: Stages,
    advance: Callable[[str], None],
    seconds: float | None = None,
    *,
    old: Mapping[str, Any] | None = None,
    links: LearnedLinks | None = None,
) -> tuple[Engine, FitReport]:
    """Returns the calibrated engine of a trained model, over an exact index, and its report without the times.

    The probabilities are fitted on `valid` and measured on `test`.
    advance, seconds: as in `measure`; old: the header of the engine that is updated; links: what was learned of
    single links.
    """
    encoder = TorchEncoder(model)
    bare = Engine(kg, encoder, build_for(encoder), links=None if links is None else links.judged)
    measured = measure(bare, questions, advance, seconds)
    structures = learned_structures(questions["train"], old)
    report = replace(_report(bare, settings, result, measured), links=None if links is None else links.scores)
    ways = measured.ways
    notes = notes_on(
        kg,
        questions,
        report,
        fitted=measured.calibration.fitted,
        grown=old is not None,
        lacking=structures["lacking"],
    )
    if ways is not None:
        notes = (*notes, ways.sentence())
    for note in notes:
        stages.say(note)
    about = {**_about(report, settings), **structures}
    finders = replace(
        bare.finders,
        links=None if links is None else links.serving,
        search=ways is not None and ways.is_search_better,
    )
    engine = Engine.of(replace(bare.parts, finders=finders, calibration=measured.calibration, about=about))
    return engine, replace(report, notes=notes)


def with_report(engine: Engine, report: FitReport) -> Engine:
    """Returns the engine with its report, which is written when the times of all stages are known."""
    files = {"report.json": report.json().encode(), "report.md": report.markdown().encode()}
    if report.calibration is not None:
        files["calibration.svg"] = draw_reliability(report.calibration).encode()
    times = {} if report.first is not None else {"seconds": sum(report.seconds.values())}
    return Engine.of(replace(engine.parts, about={**engine.about, **times}, files=files))


def _report(engine: Engine, settings: FitSettings, result: Result, measured: Measured) -> FitReport:
    """Returns the report without the notes and the times."""
    kg = engine.kg
    return FitReport(
        graph=kg.name,
        entities=kg.vocabulary.entity_count,
        relations=len(kg.vocabulary.relations),
        triples={part: len(triples) for part, triples in kg.splits.items()},
        model=settings.model,
        parameters=sum(parameter.numel() for parameter in model_of(engine.encoder).parameters()),
        steps=result.step,
        device=_machine_name(model_of(engine.encoder).entities.weight.device),
        scores=measured.scores,
        frequency=measured.frequency,
        by_relation=measured.by_relation,
        calibration=measured.reliability,
        everyday=measured.everyday,
        reasons=measured.reasons,
        restatements=restated_relations(kg),
    )


def _about(report: FitReport, settings: FitSettings) -> dict[str, Any]:
    """Returns what an engine's header says of its making."""
    return {
        "minutes": settings.minutes,
        "steps": report.steps,
        "device": report.device,
        "seed": settings.training.seed,
        "held_out": {part: report.triples.get(part, 0) for part in ("valid", "test")},
        "mrr": None if report.scores is None else report.scores.mrr,
        "ece": None if report.calibration is None else report.calibration.ece,
        "version": __version__,
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _machine_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{platform.machine()} processor, {counted(torch.get_num_threads(), 'thread')}"
