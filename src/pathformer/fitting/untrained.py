"""Changes the facts of an engine without training: in seconds, and what was measured of it stays.

Known answers, proofs and the evidence for links follow the changed graph. What an embedding knows of links stays as it
was; a new entity starts at the mean of what it predicts for the entity's links. The engine keeps the ids of what
changed, so that the next training learns it.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from pathformer.engine.engine import Engine
from pathformer.engine.find.finders import Finders
from pathformer.engine.storage import UNTRAINED
from pathformer.fitting.change import untrained_since
from pathformer.fitting.new_entities import grow_model, initialise_new_entities
from pathformer.fitting.reindex import with_index_like
from pathformer.fitting.report import FitReport
from pathformer.fitting.update_links import place_new_entities
from pathformer.index._base import build_for
from pathformer.kg.grow import Grown
from pathformer.kg.keys import pack
from pathformer.models._encoder import TorchEncoder, model_of

__all__ = ["add_untrained", "change_facts"]

Triples = npt.NDArray[np.int32]


def change_facts(old: Engine, grown: Grown, about: Mapping[str, Any], device: torch.device) -> Engine:
    """Returns the engine on a changed graph; about: its header, which counts this change among the updates."""
    kg = grown.kg
    links = None if old.links is None else place_new_entities(old.links.on(kg.graph()), grown, device)
    changed = np.concatenate([_untrained(old), grown.triples, grown.removed])
    files = {**old.files, UNTRAINED: _bytes_of(np.unique(changed, axis=0)), **_note(old, grown, about)}
    engine = Engine.of(replace(old.parts, kg=kg, finders=replace(_grow_points(old, grown, device), links=links)))
    return Engine.of(replace(engine.parts, about=about, files=files))


def add_untrained(old: Engine, grown: Grown) -> Grown:
    """Adds what earlier updates changed without training to what changes now, for a training that learns all of it."""
    sizes = grown.kg.vocabulary.entity_count, grown.kg.vocabulary.relation_count
    earlier, since = _untrained(old), untrained_since(old.about)
    stated = np.concatenate([pack(part, *sizes) for part in grown.kg.splits.values()])
    there = np.isin(pack(earlier, *sizes), stated)
    return replace(
        grown,
        triples=np.unique(np.concatenate([grown.triples, earlier[there]]), axis=0),
        removed_before=earlier[~there],
        entities=grown.entities + since.entities,
        relations=grown.relations + since.relations,
    )


def _grow_points(old: Engine, grown: Grown, device: torch.device) -> Finders:
    """Returns the encoder and the index with rows for new entities and relations."""
    if old.finders.points is None or not (grown.entities or grown.relations):
        return old.finders
    model = grow_model(model_of(old.encoder), grown.kg).to(device)
    initialise_new_entities(model, grown.kg.graph("train"), old.kg.vocabulary.entity_count)
    encoder = TorchEncoder(model.eval())
    grown_engine = with_index_like(old, Engine(grown.kg, encoder, build_for(encoder)))
    return replace(old.finders, encoder=encoder, index=grown_engine.index)


def _note(old: Engine, grown: Grown, about: Mapping[str, Any]) -> dict[str, bytes]:
    """Returns the report of the last training with the new sizes and a note of what changed since."""
    if "report.json" not in old.files:
        return {}
    kg, report = grown.kg, FitReport.from_json(old.files["report.json"].decode())
    before, now = untrained_since(old.about).note(), untrained_since(about).note()
    report = replace(
        report,
        entities=kg.vocabulary.entity_count,
        relations=len(kg.vocabulary.relations),
        triples={part: len(triples) for part, triples in kg.splits.items()},
        notes=(*(note for note in report.notes if note != before), now),
    )
    return {"report.json": report.json().encode(), "report.md": report.markdown().encode()}


def _untrained(engine: Engine) -> Triples:
    """Returns the triples (n, 3) that were added or taken away since the last training."""
    if UNTRAINED not in engine.files:
        return np.zeros((0, 3), np.int32)
    triples: Triples = np.load(io.BytesIO(engine.files[UNTRAINED]), allow_pickle=False)
    return triples


def _bytes_of(triples: Triples) -> bytes:
    file = io.BytesIO()
    np.save(file, triples)
    return file.getvalue()
