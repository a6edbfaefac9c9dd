"""A trained model measured on questions it has not seen, and what an engine says of it: report, notes, facts."""

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
from pathformer.engine.history import FirstFit, learned_structures
from pathformer.fitting.measure import Measured, measure
from pathformer.fitting.notes import notes_on
from pathformer.fitting.report import FitReport
from pathformer.fitting.settings import FitSettings
from pathformer.fitting.stages import Stages
from pathformer.index._base import over
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model
from pathformer.models._encoder import TorchEncoder, model_of
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.text import counted
from pathformer.training.machine import commit
from pathformer.training.settings import Result

__all__ = ["assess", "with_times"]


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
) -> Engine:
    """The engine of a trained model, over an exact index: measured, calibrated on `valid`, judged on `test`.

    advance, seconds: as in `measure`; old: the header of the engine that this training updates.
    """
    encoder = TorchEncoder(model)
    bare = Engine(kg, encoder, over(encoder))
    found = measure(bare, questions, advance, seconds)
    report = _report(bare, settings, result, found, stages.seconds)
    shapes = learned_structures(questions["train"], old)
    notes = notes_on(
        kg, questions, report, fitted=found.calibration.fitted, grown=old is not None, lacking=shapes["lacking"]
    )
    report = replace(report, notes=notes)
    for note in notes:
        stages.say(note)
    files = _texts(report)
    if report.calibration is not None:
        files["calibration.svg"] = draw_reliability(report.calibration).encode()
    return Engine(kg, encoder, bare.index, found.calibration, {**_about(report, settings), **shapes}, files)


def with_times(engine: Engine, seconds: Mapping[str, float], first: FirstFit | None = None) -> Engine:
    """An engine whose report holds these times, by stage: that of a stage is known when it is over.

    first: of an update, what the first fit had.
    """
    report = replace(FitReport.from_json(engine.files["report.json"].decode()), seconds=dict(seconds), first=first)
    about, files = {**engine.about, "seconds": sum(seconds.values())}, {**engine.files, **_texts(report)}
    return Engine(engine.kg, engine.encoder, engine.index, engine.calibration, about, files)


def _report(
    engine: Engine, settings: FitSettings, result: Result, found: Measured, seconds: Mapping[str, float]
) -> FitReport:
    """All but the notes."""
    kg = engine.kg
    return FitReport(
        graph=kg.name,
        entities=kg.vocabulary.entity_count,
        relations=len(kg.vocabulary.relations),
        triples={part: len(triples) for part, triples in kg.splits.items()},
        model=settings.model,
        parameters=sum(parameter.numel() for parameter in model_of(engine.encoder).parameters()),
        steps=result.step,
        device=_machine(model_of(engine.encoder).entities.weight.device),
        scores=found.scores,
        frequency=found.frequency,
        by_relation=found.by_relation,
        calibration=found.reliability,
        everyday=found.everyday,
        reasons=found.reasons,
        seconds=dict(seconds),
    )


def _about(report: FitReport, settings: FitSettings) -> dict[str, Any]:
    """What an engine's header says of its making."""
    return {
        "minutes": settings.minutes,
        "seconds": sum(report.seconds.values()),
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


def _texts(report: FitReport) -> dict[str, bytes]:
    return {"report.json": report.json().encode(), "report.md": report.markdown().encode()}


def _machine(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{platform.machine()} processor, {counted(torch.get_num_threads(), 'thread')}"
