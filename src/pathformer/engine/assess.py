"""A trained model on questions it has not seen: figures beside the baseline's, probabilities, and what to say of it."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from pathformer import __version__
from pathformer.engine.assumed import assumed_share
from pathformer.engine.calibrate import Calibration
from pathformer.engine.engine import Engine
from pathformer.engine.heldout import Questions
from pathformer.engine.judge import all_but, find_predictions, fit_calibration, judge_calibration
from pathformer.engine.reliability import draw_reliability
from pathformer.engine.report import FitReport, RelationScore
from pathformer.engine.scale import Scale
from pathformer.engine.stages import Stages
from pathformer.evaluation.evaluate import ModelRanker, evaluate
from pathformer.evaluation.filters import reference_filter
from pathformer.evaluation.frequency import Frequency
from pathformer.evaluation.metrics import reciprocal_ranks
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models import Model
from pathformer.query.computation import Tree
from pathformer.query.structures import EFOL_TRAINED
from pathformer.training.checkout import commit
from pathformer.training.loop import Result

__all__ = ["MEASURES", "Assessed", "assess", "with_times"]

MEASURES = 5  # parts that `assess` tells of

_EXPLAINED = ("2p", "3p", "ip", "pi", "up", "inp", "pin", "pni")  # structures with a variable to bind
_REASONS = 12  # answers of each that are explained
_FOR_A_REASON = 10  # questions for one that is explained: it takes as long as searching several
_SEARCHING = 0.6  # of the time for everything here
_TRIED, _FEWEST = 2, 20  # questions of a structure: to see how long they take, and that probabilities need
_FEW = 1000  # triples below which little can be learned
_RARE = 5  # triples of a relation below which nothing can
_ENOUGH = 20  # held-out triples below which probabilities would rest on luck
_SHOWN = 5  # names in a note
_RELATIONS = 40  # lines of the report


@dataclass(frozen=True, eq=False)
class Assessed:
    """What an engine is given besides its model."""

    calibration: Calibration
    report: FitReport
    about: Mapping[str, Any]
    files: Mapping[str, bytes]


def assess(
    engine: Engine,
    questions: Questions,
    scale: Scale,
    result: Result,
    stages: Stages,
    advance: Callable[[str], None] = lambda _: None,
    seconds: float | None = None,
    *,
    grown: bool = False,
) -> Assessed:
    """Measure an engine, calibrate on `valid`, judge on `test`, and write it all down.

    seconds: about how long; figures and probabilities then rest on as many questions as can be searched in that time;
    grown: whether the model knew most of the graph before this training.
    """
    kg, model, index, encoder = engine.kg, engine.model, engine.index, engine.encoder
    calibration, scores, frequency, judged, everyday, reasons = Calibration.none(), None, None, None, None, None
    relations: tuple[RelationScore, ...] = ()
    asked = questions if seconds is None else _in_time(engine, questions, seconds)
    if questions.test and questions.valid:
        scores = evaluate(ModelRanker(model), asked.test)
        frequency = evaluate(Frequency(kg.graph("train")), asked.test)
        relations = _by_relation(kg, model, asked)
        advance("figures")
    if questions.test and questions.valid and _held_out(kg) >= _ENOUGH:
        learnt = all_but(kg, "valid")
        calibration = fit_calibration(
            find_predictions(asked.valid, learnt, encoder, index),
            find_predictions(asked.everyday["valid"], learnt, encoder, index),
        )
        advance("probabilities")
        known = kg.graph("valid")
        judged = judge_calibration(calibration, find_predictions(asked.test, known, encoder, index))
        advance("whether they hold")
        everyday = judge_calibration(calibration, find_predictions(asked.everyday["test"], known, encoder, index))
        advance("and for everyday questions")
        reasons = assumed_share(engine, _answers_to_explain(asked), known, kg.graph())
        advance("reasons")
    report = FitReport(
        graph=kg.name,
        entities=kg.vocabulary.entity_count,
        relations=len(kg.vocabulary.relations),
        triples={part: len(triples) for part, triples in kg.splits.items()},
        model=scale.model,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        steps=result.step,
        device=_machine(model),
        scores=scores,
        frequency=frequency,
        by_relation=relations,
        calibration=judged,
        everyday=everyday,
        reasons=reasons,
        seconds=dict(stages.seconds),
        notes=_notes(kg, questions, calibration, result, grown),
    )
    if report.worse:
        words = f"On {', '.join(report.worse)} the model is no better than counting: more --minutes may help."
        report = replace(report, notes=(*report.notes, words))
    for note in report.notes:
        stages.say(note)
    about = {
        "minutes": scale.minutes,
        "seconds": sum(report.seconds.values()),
        "steps": result.step,
        "device": report.device,
        "seed": scale.training.seed,
        "held_out": {part: report.triples.get(part, 0) for part in ("valid", "test")},
        "mrr": None if scores is None else scores.mrr,
        "ece": None if judged is None else judged.ece,
        "version": __version__,
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    files = _texts(report)
    if judged is not None:
        files["calibration.svg"] = draw_reliability(judged).encode()
    return Assessed(calibration, report, about, files)


def with_times(engine: Engine, seconds: Mapping[str, float]) -> Engine:
    """An engine whose report holds these times, by stage: that of a stage is known when it is over."""
    report = replace(FitReport.from_json(engine.files["report.json"].decode()), seconds=dict(seconds))
    about, files = {**engine.about, "seconds": sum(seconds.values())}, {**engine.files, **_texts(report)}
    return Engine(engine.kg, engine.model, engine.index, engine.calibration, about, files, engine.form)


def _texts(report: FitReport) -> dict[str, bytes]:
    return {"report.json": report.json().encode(), "report.md": report.markdown().encode()}


def _in_time(engine: Engine, questions: Questions, seconds: float) -> Questions:
    """As many of the held-out questions as can be searched in their share of so many seconds."""
    if not questions.test:
        return questions
    graph, tried = engine.kg.graph("valid"), questions.fewer(_TRIED).test
    find_predictions(questions.fewer(1).test, graph, engine.encoder, engine.index)  # what is made once is made here
    start = time.monotonic()
    find_predictions(tried, graph, engine.encoder, engine.index)
    each = (time.monotonic() - start) / sum(map(len, tried.values()))
    sets = (questions.valid, questions.test, *questions.everyday.values())
    whole = sum(len(asked) for queries in sets for asked in queries.values())
    most = max(len(asked) for queries in sets for asked in queries.values())
    affordable = _SEARCHING * seconds / (each * whole)
    return questions if affordable >= 1.0 else questions.fewer(max(_FEWEST, int(affordable * most)))


def _held_out(kg: KnowledgeGraph) -> int:
    """Triples of the smaller held-out part."""
    return min(len(kg.splits.get(part, ())) for part in ("valid", "test"))


def _answers_to_explain(questions: Questions) -> list[tuple[Tree, int]]:
    """Held-out answers to questions with a variable in between, one a question."""
    return [
        (asked.structure.tree(asked.ids[row].tolist()), int(asked.hard[row][0]))
        for name in _EXPLAINED
        if (asked := questions.test.get(name)) is not None
        for row in range(min(_REASONS, max(1, len(asked) // _FOR_A_REASON)))
    ]


def _by_relation(kg: KnowledgeGraph, model: Model, questions: Questions) -> tuple[RelationScore, ...]:
    """MRR of held-out links by relation, the most frequent first."""
    asked = questions.test.get("1p")
    if asked is None:
        return ()
    ranks = ModelRanker(model).rank(asked, asked.hard, reference_filter(asked))
    counts = np.diff(ranks.ptr)
    of_query = np.add.reduceat(reciprocal_ranks(ranks), ranks.ptr[:-1]) / counts  # every query has a missing answer
    relation = asked.ids[:, 1] >> 1
    learnt = np.bincount(kg.splits["train"][:, 1] >> 1, minlength=len(kg.vocabulary.relations))
    found = [
        RelationScore(
            kg.vocabulary.relation(2 * int(r)),
            int(learnt[r]),
            int((relation == r).sum()),
            float(of_query[relation == r].mean()),
        )
        for r in np.unique(relation)
    ]
    return tuple(sorted(found, key=lambda score: (-score.triples, score.relation))[:_RELATIONS])


def _notes(
    kg: KnowledgeGraph, questions: Questions, calibration: Calibration, result: Result, grown: bool
) -> tuple[str, ...]:
    """What cannot be learned from this graph, or could not be measured."""
    notes = []
    train, names = kg.splits["train"], kg.vocabulary
    if not result.step:
        rest = "new entities stand where they were put" if grown else "the model knows nothing"
        notes.append(f"The time was too short for a single step: {rest}.")
    if len(train) < _FEW:
        notes.append(
            f"{_counted(len(train), 'triple is', 'triples are')} few to learn from: "
            "take predictions as hints; known answers are exact as ever."
        )
    rare = np.flatnonzero(np.bincount(train[:, 1] >> 1, minlength=len(names.relations)) < _RARE)
    if len(rare):
        shown = ", ".join(names.relation(2 * int(r)) for r in rare[:_SHOWN]) + (", ..." if len(rare) > _SHOWN else "")
        notes.append(f"Relations with fewer than {_RARE} triples are hardly learned: {len(rare)} of them ({shown}).")
    alone = int(np.count_nonzero(np.diff(kg.graph("train").head_ptr) == 0))
    if alone:
        standing = _counted(alone, "entity stands", "entities stand")
        notes.append(f"{standing} in no triple to learn from: what is predicted there is arbitrary.")
    missing = [name for name in EFOL_TRAINED if name not in questions.train]
    if missing and not grown:  # what an update asks is its own choice
        notes.append(f"The graph holds no questions of the shapes {', '.join(missing)} to learn from.")
    if not questions.test or not questions.valid:
        notes.append("Nothing could be held out without losing a name: no figures, and probabilities are a mere habit.")
    elif _held_out(kg) < _ENOUGH:
        notes.append(
            f"Only {_counted(_held_out(kg), 'triple', 'triples')} could be held out: too few to measure probabilities "
            "by, so that they are a mere habit; figures that rest on so few are hardly more than luck."
        )
    elif not calibration.fitted:
        notes.append("Too few held-out questions were answered right or wrong: probabilities are a mere habit.")
    return tuple(notes)


def _machine(model: Model) -> str:
    import torch

    device = model.entities.weight.device
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{platform.machine()} processor, {_counted(torch.get_num_threads(), 'thread', 'threads')}"


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"
