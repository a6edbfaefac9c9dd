"""Measures what fitting learns in minutes: held-out MRR, beside counting and beside chained links of a ComplEx.

Each graph is fitted with the settings of `pathformer fit`, and a ComplEx is trained on the same links for as long; its
single hops are chained by beam search (`_chain`, width 64). All three are asked the same held-out questions.

    pathformer bench fit [GRAPH ...] [--seconds 240]

The time is processor time, so that other work on the machine does not decide the figures: a few steps are timed, and
the run is given as many as make up the budget. On an idle machine that is the time on the clock, with one thread.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from _chain import Chain
from _record import record
from rich.console import Console

from pathformer.engine.engine import Engine
from pathformer.evaluation.evaluate import ModelRanker, ScoreRanker, evaluate
from pathformer.fitting.held_out_predictions import (
    find_predictions,
    fit_calibration,
    graph_without,
    measure_reliability,
)
from pathformer.fitting.heldout import draw_questions, hold_out
from pathformer.fitting.learn import learn, new_model
from pathformer.fitting.settings import FitSettings, settings_for
from pathformer.index._base import build_for
from pathformer.kg.datasets import load
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.frequency import Frequency
from pathformer.models._base import Model, build
from pathformer.models._encoder import TorchEncoder
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.training.data import TrainingSet
from pathformer.training.display import Display
from pathformer.training.rounds import Rounds
from pathformer.training.settings import StepConfig, Training

CPU = torch.device("cpu")
WARM, TIMED = 3, 12  # steps


def steps_for(model: Model, training: Training, questions: QuerySets[Queries], seconds: float) -> int:
    """Returns how many steps take `seconds` of processor time; the timed steps train the model a little."""
    data = TrainingSet.of(list(questions["train"].values()), model.entity_count)
    composition = training.composition(tuple(questions["train"]))
    turns = Rounds(model, data, composition, training.update, training.update_per_structure)
    for _ in range(WARM):
        turns.run()
    start = time.process_time()
    for _ in range(TIMED):
        turns.run()
    return max(1, round(seconds * TIMED / (time.process_time() - start)))


def counted(
    scale: FitSettings, method: str, kg: KnowledgeGraph, questions: QuerySets[Queries], seconds: float
) -> FitSettings:
    """Returns the settings with as many steps as take `seconds`, including a link predictor that is trained first."""
    first = 0.0 if scale.links is None else scale.links.share * seconds
    training = replace(scale.training, minutes=None, validations=4)
    steps = steps_for(new(method, scale.model, kg), training, questions, seconds - first)
    scale = replace(scale, training=replace(training, steps=steps))
    if scale.links is None:
        return scale
    before = replace(scale.links.training, minutes=None)
    steps = steps_for(new("complex", scale.links.model, kg), before, links_of(questions), first)
    return replace(scale, links=replace(scale.links, training=replace(before, steps=steps)))


def trained(
    model: Model, kg: KnowledgeGraph, questions: QuerySets[Queries], scale: FitSettings, seconds: float
) -> FitSettings:
    """Train `model` for so long. Returns the settings, with the steps."""
    chosen = counted(scale, model.name, kg, questions, seconds)
    with tempfile.TemporaryDirectory() as folder:
        learn(Path(folder), model, kg, questions, chosen, Display(Console(quiet=True)))
    return chosen


def new(method: str, settings: Mapping[str, Any], kg: KnowledgeGraph) -> Model:
    names = kg.vocabulary
    return build(method, settings, entities=names.entity_count, relations=names.relation_count)


def links_of(questions: QuerySets[Queries]) -> QuerySets[Queries]:
    """Returns the one-hop queries alone."""
    return QuerySets(
        splits={"train": {"1p": questions["train"]["1p"]}, "valid": {"1p": questions["valid"]["1p"]}, "test": {}}
    )


def complex_scale(scale: FitSettings) -> FitSettings:
    """Returns settings that train one-hop queries alone."""
    update = StepConfig(objective="links", average_over="batch", weighted=False, rate=0.1)  # as in engine.scale
    training = Training(
        steps=1, batch=512, batch_per="step", update_per_structure=False, schedule="cosine", warmup=0.03, update=update
    )
    return replace(scale, model={"rank": 128, "n3": 0.01, "relation": 0.5}, training=training, links=None)


def measured(name: str, seconds: float, asked: int, data: Path | None) -> dict[str, Any]:
    kg = load(name, data)
    scale = settings_for(entities=kg.vocabulary.entity_count, triples=kg.triple_count, minutes=5.0)
    scale = replace(scale, held_out_per_structure=asked)
    kg = hold_out(kg, scale.held_out)
    questions = draw_questions(kg, scale)
    model = new_model(kg, scale, CPU)
    chosen = trained(model, kg, questions, scale, seconds)
    other = complex_scale(scale)
    rival = new("complex", other.model, kg)
    rival_steps = trained(rival, kg, links_of(questions), other, seconds).training.steps
    reports = {
        "fit": evaluate(ModelRanker(model), questions["test"]),
        "counting": evaluate(ScoreRanker(Frequency(kg.graph("train"))), questions["test"]),
        "complex": evaluate(Chain(rival), questions["test"]),
    }
    encoder = TorchEncoder(model)
    engine = Engine(kg, encoder, build_for(encoder))
    calibration = fit_calibration(
        *(
            find_predictions(part, graph_without(kg, "valid"), engine.encoder, engine.index)
            for part in (questions["valid"], questions["everyday valid"])
        )
    )
    judged = measure_reliability(
        calibration, find_predictions(questions["test"], kg.graph("valid"), engine.encoder, engine.index)
    )
    return {
        "graph": name,
        "seconds": seconds,
        "steps": chosen.training.steps,
        "link_steps": 0 if chosen.links is None else chosen.links.training.steps,
        "complex_steps": rival_steps,
        "queries": {key: scores.queries for key, scores in reports["fit"].scores.items()},
        "mrr": {who: {key: s.mrr for key, s in report.scores.items()} for who, report in reports.items()},
        "mean": {who: report.mrr for who, report in reports.items()},
        "ece": judged.ece,
        "brier": judged.brier,
        "base_brier": judged.base_brier,
    }


def shown(found: dict[str, Any]) -> str:
    """Formats the figures as a Markdown table."""
    names = list(found["queries"])
    lines = [f"| {found['graph']} | {' | '.join(names)} | mean |", "|---" * (len(names) + 2) + "|"]
    for who, row in found["mrr"].items():
        cells = [f"{100 * row[name]:.1f}" for name in names]
        lines.append(f"| {who} | {' | '.join(cells)} | {100 * found['mean'][who]:.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=["umls", "codex-s", "world"])
    parser.add_argument("--seconds", type=float, default=240.0, help="of processor time, for each of the two models")
    parser.add_argument("--asked", type=int, default=200, help="held-out questions of a structure")
    parser.add_argument("--data", type=Path, default=None, help="the folder that holds datasets")
    given = parser.parse_args()
    torch.set_num_threads(1)
    results = []
    for name in given.graphs:
        results.append(measured(name, given.seconds, given.asked, given.data))
        print(shown(results[-1]), flush=True)
        print({key: value for key, value in results[-1].items() if key not in ("mrr", "queries")}, flush=True)
    record("fit", {found["graph"]: found for found in results})


if __name__ == "__main__":
    main()
