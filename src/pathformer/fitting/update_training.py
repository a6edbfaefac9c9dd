"""Trains and measures an engine whose facts changed.

A new entity starts where the model itself expects it: at the mean of what it predicts for the questions that the
entity's triples answer. Then a short training runs over the whole graph, with new links more often than old ones, so
that the new is learned and the old is not forgotten (`fitting.update_settings`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch

from pathformer.engine.engine import Engine
from pathformer.evaluation.evaluate import ModelRanker, ScoreRanker, evaluate
from pathformer.fitting.assessment import assess
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
from pathformer.fitting.reindex import takes, with_index_like
from pathformer.fitting.report import FitReport
from pathformer.fitting.settings import MEASURING, FitSettings
from pathformer.fitting.stages import LINKS, Stages
from pathformer.fitting.update_links import relearn_embedding, update_links
from pathformer.fitting.update_settings import embedding_of, has_hops, oversample_new_links, row_rates
from pathformer.kg.grow import Grown
from pathformer.kg.holdout import spell_out
from pathformer.links.frequency import Frequency
from pathformer.models._base import Model
from pathformer.models._encoder import model_of
from pathformer.query.structures import EFOL_TRAINED, STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets, graph_pair
from pathformer.querysets.sampler import sample
from pathformer.training.budget import TimeBudget

__all__ = ["train_update"]


def train_update(
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
    timed, embedding = time_for_training(settings, budget, folder), embedding_of(old.links)
    if embedding is not None and timed.links is not None:
        with stages.training(LINKS) as display:
            shown = display.for_part("all links")
            embedding = relearn_embedding(folder / "links", embedding, grown, timed.links, device, shown)
    with stages.training() as display:
        result = learn(folder, model, grown.kg, questions, timed, display, row_rates(model, grown))
    links = None
    if old.links is not None:
        with stages.stage("renewing the evidence"):
            links = update_links(old.links, grown.kg, model, embedding)
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
            links=links,
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
        removed=len(grown.removed),
    )
    return with_index_like(old, updated), report, change


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
        links = oversample_new_links(drawn["train"]["1p"], grown)
        return drawn.with_split("train", {**drawn["train"], "1p": links}), held


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
