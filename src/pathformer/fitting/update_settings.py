"""How an engine learns more triples: the settings, which rows move, and how often new links are drawn.

Rows of new entities and relations move, those of old entities that new triples name at a twentieth of the rate, and
everything else stays as it is: whatever else is trained drifts, and old answers with it. A model that started from a
link predictor is taught links alone, another one questions of all kinds that its method takes. In spaces in which that
was not tried, those of runs that became engines, all of a model is trained, at a tenth of a fit's rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from pathformer.engine.engine import Engine
from pathformer.fitting.settings import FitSettings, LinkSettings, memory_of, settings_for
from pathformer.kg.grow import Grown
from pathformer.links.evidence.embedding import Embedding
from pathformer.links.scorer import LinkScorer
from pathformer.models._base import Model
from pathformer.models._encoder import model_of
from pathformer.nn.table import Table
from pathformer.querysets.queries import Queries
from pathformer.spaces._base import Space
from pathformer.spaces.hermitian import Hermitian
from pathformer.spaces.sphere import Sphere

__all__ = ["embedding_of", "has_hops", "oversample_new_links", "row_rates", "settings_for_update"]

_SHARE = 0.15  # of the first fit's time
_RATE = 0.1  # of its learning rate, where everything is trained
_ROWS: Mapping[type[Space], float] = {Hermitian: 3e-2, Sphere: 1e-1}  # that of new rows, where only rows are
_NAMED = 0.05  # of it, for rows of old entities that new triples name
_N3, _RELATION = 0.01, 0.5  # weights of the link predictor's own terms, for the same
_AVERAGED = 0.98  # decay of the weights' average: fifty steps, where a fit's thousand would hold half-learned rows
_LINKS = 0.4  # of the time for training, for the embedding among the evidence
_DRAWN = 5_000  # training queries of a structure
_ASKED = 40  # held-out queries of a structure


def settings_for_update(
    old: Engine, grown: Grown, minutes: float | None, device: torch.device, seed: int
) -> FitSettings:
    """Returns the settings of an update: those of a fit with fewer queries, less time and a lower rate."""
    whole = minutes if minutes is not None else _SHARE * float(old.about.get("seconds") or 300.0) / 60.0
    usual = settings_for(
        entities=grown.kg.vocabulary.entity_count,
        triples=grown.kg.triple_count,
        minutes=whole,
        cuda=device.type == "cuda",
        memory=memory_of(device),
        seed=seed,
        hops=has_hops(old),  # as the model was made, however large the graph has become
    )
    training = usual.training
    update = replace(training.update, rate=_ROWS.get(type(model_of(old.encoder).space), _RATE * training.update.rate))
    if has_hops(old):
        softmax = replace(update.softmax, n3=_N3, relation=_RELATION, removed=0)  # links take nothing away
        update = replace(update, softmax=softmax, weighted=False, ema=_AVERAGED)
    return replace(
        usual,
        method=old.encoder.name,
        model=dict(old.encoder.settings),
        links=_link_settings(old, usual),
        trained_per_structure=min(usual.trained_per_structure, _DRAWN),
        held_out_per_structure=min(usual.held_out_per_structure, _ASKED),
        training=replace(training, validations=1, warmup=0.2, update=update),
    )


def _link_settings(old: Engine, usual: FitSettings) -> LinkSettings | None:
    """Returns how the embedding among the evidence learns changed rows; None without one."""
    embedding = embedding_of(old.links)
    if embedding is None or usual.links is None:
        return None
    links = usual.links
    update = replace(links.training.update, rate=_ROWS[Hermitian], ema=_AVERAGED)
    return replace(
        links,
        share=_LINKS,
        model={**links.model, "rank": embedding.entities.shape[1] // 2},
        training=replace(links.training, validations=1, warmup=0.2, update=update),
    )


def embedding_of(links: LinkScorer | None) -> Embedding | None:
    """Returns the embedding among the sources of evidence, if there is one."""
    return next((source for source in (links.sources if links else ()) if isinstance(source, Embedding)), None)


def has_hops(old: Engine) -> bool:
    """Whether the model started from a link predictor, whose hops its paths are made of."""
    return isinstance(model_of(old.encoder).space, Hermitian)


def row_rates(model: Model, grown: Grown) -> dict[str, Tensor] | None:
    """Returns by table each row's factor of the learning rate, (N, 1); only new and newly named rows move.

    None where all of a model is trained.
    """
    if type(model.space) not in _ROWS:
        return None
    entities, relations = np.zeros(model.entity_count, np.float32), np.zeros(model.relation_count, np.float32)
    changed = np.concatenate([grown.triples, grown.removed, grown.removed_before])
    entities[changed[:, [0, 2]]] = _NAMED
    entities[model.entity_count - grown.entities :] = 1.0
    relations[model.relation_count - 2 * grown.relations :] = 1.0
    rates = {}
    for name, module in model.named_modules():
        if isinstance(module, Table):
            own = entities if name.endswith("entities") else relations
            others = np.zeros(len(module) - len(own), np.float32)  # a token of negation, say
            rates[f"{name}.weight"] = torch.from_numpy(np.concatenate([own, others])[:, None]).to(module.weight)
    return rates


def oversample_new_links(links: Queries, grown: Grown) -> Queries:
    """Repeats new links so often that they make up a third of all links that are drawn."""
    relations = grown.kg.vocabulary.relation_count
    new = np.concatenate([grown.triples[:, :2], np.stack([grown.triples[:, 2], grown.triples[:, 1] ^ 1], axis=1)])
    keys = links.ids[:, 0].astype(np.int64) * relations + links.ids[:, 1]
    places = np.flatnonzero(np.isin(keys, new[:, 0].astype(np.int64) * relations + new[:, 1]))
    times = len(links) // (2 * len(places)) if len(places) else 0
    more = np.concatenate([np.arange(len(links)), np.tile(places, times)])
    return links.take(more)
