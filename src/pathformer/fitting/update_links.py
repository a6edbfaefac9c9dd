"""The evidence for single links in an update that trains: the embedding learns the changed rows, the rest follows.

The engine answers with an embedding that knows all facts, held-out ones too, so that one cannot be judged by them. The
tables of the path model never saw these: they started as those of the link predictor on the train graph, and are judged
in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from pathformer.fitting.evidence import all_links
from pathformer.fitting.learn import LINK_METHOD
from pathformer.fitting.links import LearnedLinks, held_out_links, measure_links
from pathformer.fitting.new_entities import grow_model, initialise_new_entities
from pathformer.fitting.settings import LinkSettings
from pathformer.fitting.update_settings import embedding_of, oversample_new_links, row_rates
from pathformer.kg.grow import Grown
from pathformer.kg.holdout import spell_out
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.evidence.embedding import Embedding
from pathformer.links.scorer import LinkScorer
from pathformer.models._base import Model, build
from pathformer.training import pipeline
from pathformer.training.display import Display
from pathformer.training.redraw import TrainingQueries

__all__ = ["place_new_entities", "relearn_embedding", "update_links"]

_ASKED = 400  # held-out questions that the evidence is measured on


def relearn_embedding(
    folder: Path, old: Embedding, grown: Grown, settings: LinkSettings, device: torch.device, display: Display
) -> Embedding:
    """Trains the rows of an embedding that changed facts name, in a folder or on from there, on all facts."""
    kg, predictor = grown.kg, _grow_predictor(old, grown, settings.model, device)
    links = oversample_new_links(all_links(kg), grown)
    material = pipeline.Material(queries=TrainingQueries(kg=kg, given={"1p": links}, settings=settings.training))
    result = pipeline.train_model(predictor, material, folder, display, row_rates=row_rates(predictor, grown))
    if not result.finished:
        raise KeyboardInterrupt
    pipeline.choose_weights(predictor, result)
    return _embedding_of(predictor)


def place_new_entities(links: LinkScorer, grown: Grown, device: torch.device) -> LinkScorer:
    """Puts the rows of new entities where the embedding expects them; the mean row would speak against their links."""
    old = embedding_of(links)
    if old is None or not grown.entities:
        return links
    model = _grow_predictor(old, grown, {"rank": old.entities.shape[1] // 2}, device)
    return _with(links, _embedding_of(model))


def update_links(old: LinkScorer, kg: KnowledgeGraph, model: Model, embedding: Embedding | None) -> LearnedLinks:
    """Returns the evidence on a changed graph, and measures it; the mixture and its probabilities stay.

    model: the path model after its training; embedding: as `relearn_embedding` left it.
    """
    judged, serving = old.on(kg.graph("train")), old.on(kg.graph())
    if embedding is not None:
        judged, serving = _with(judged, _embedding_of(model)), _with(serving, embedding)
    stating = spell_out(kg)
    if not len(stating.splits.get("test", ())):
        return LearnedLinks(judged, serving, None)
    asked = held_out_links(stating, "test", stating.graph("valid"), _ASKED)
    return LearnedLinks(judged, serving, measure_links(judged, asked) if len(asked) else None)


def _with(scorer: LinkScorer, embedding: Embedding) -> LinkScorer:
    """Returns a scorer with another embedding."""
    sources = [embedding if source.name == embedding.name else source for source in scorer.sources]
    return LinkScorer(scorer.graph, sources, scorer.mixing, scorer.calibration, scorer.listing)


def _grow_predictor(embedding: Embedding, grown: Grown, settings: Mapping[str, Any], device: torch.device) -> Model:
    """Returns a link predictor with the tables of an embedding, and first estimates of new entities."""
    tables = (embedding.entities, embedding.relations)
    model = build(LINK_METHOD, settings, entities=len(tables[0]), relations=len(tables[1]))
    with torch.no_grad():
        for ours, rows in zip(model.link_tables().values(), tables, strict=True):
            ours.weight.copy_(torch.tensor(rows))
    kg = grown.kg
    predictor = grow_model(model, kg).to(device)
    initialise_new_entities(predictor, kg.graph(), kg.vocabulary.entity_count - grown.entities)
    return predictor


def _embedding_of(model: Model) -> Embedding:
    """Returns the tables of a model by links as evidence; a token of negation behind them is left out."""
    tables = model.link_tables()
    entities, relations = (tables[name].weight.detach().cpu().numpy() for name in ("entities", "relations"))
    return Embedding(entities[: model.entity_count], relations[: model.relation_count])
