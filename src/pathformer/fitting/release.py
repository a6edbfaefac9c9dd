"""Compresses a trained engine for a release: nearly the same answers in half or a quarter of the size.

The result is what opening the release will give: weights that were rounded and widened again, and an index over the
rounded rows. So it can be asked and measured before anything is written.
"""

from __future__ import annotations

import copy
import dataclasses
import json

import numpy as np
from torch import Tensor

from pathformer import __version__
from pathformer.engine.engine import Engine
from pathformer.engine.storage import CARD, RELEASE, Parts
from pathformer.errors import InputError
from pathformer.fitting.card import Kept, card_of, notices_of
from pathformer.fitting.compare import Cost
from pathformer.fitting.reindex import sample_query_points
from pathformer.index._base import Index, build_for
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model
from pathformer.models._encoder import TorchEncoder, model_of
from pathformer.models._forms import check_form, pack, unpack
from pathformer.plan.encoder import FULL, Encoder

__all__ = ["add_measured_loss", "check_source", "compress"]

_REPORT = "report.md"


def compress(engine: Engine, form: str) -> Engine:
    """Returns the engine with its weights in `form`, "bf16" or "int8", and with its model card."""
    check_source(engine.encoder.form, form)
    if engine.encoder.form == form:
        return engine
    encoder = TorchEncoder(_round(model_of(engine.encoder), form), form)
    index = _index_like(engine.index, encoder, engine.kg)
    return _with_card(
        dataclasses.replace(engine.parts, finders=dataclasses.replace(engine.finders, encoder=encoder, index=index)),
        None,
    )


def add_measured_loss(release: Engine, cost: Cost) -> Engine:
    """Returns the release with what its form costs in its card, its report and `release.json`."""
    report = release.files.get(_REPORT)
    added = {} if report is None else {_REPORT: report + f"\n## In released form\n\n{cost.sentence()}\n".encode()}
    return _with_card(dataclasses.replace(release.parts, files={**release.files, **added}), cost)


def check_source(now: str, form: str) -> None:
    """Refuses an unknown form, and a change of form: what was rounded away does not come back."""
    check_form(form)
    if now not in (FULL, form):
        raise InputError(
            f"this engine is already a release in {now}, and what was rounded away does not come back: "
            f"release the engine that it was made from in {form}"
        )


def _with_card(release: Parts, cost: Cost | None) -> Engine:
    model, form = model_of(release.encoder), release.encoder.form
    state = model.state_dict()
    kept = Kept(
        form=form,
        bytes_before=_size(state),
        bytes_after=_size(pack(state, form, model.row_parts)),
        searched=_number_type(release.encoder),
        cost=cost,
    )
    facts = {
        "form": kept.form,
        "bytes": {FULL: kept.bytes_before, kept.form: kept.bytes_after},
        "cost": None if cost is None else cost.plain(),
        "version": __version__,
    }
    files = {
        **release.files,
        **notices_of(release.kg),
        CARD: card_of(release, kept).encode(),
        RELEASE: (json.dumps(facts, indent=2) + "\n").encode(),
    }
    return Engine.of(dataclasses.replace(release, files=files))


def _size(tensors: dict[str, Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def _number_type(encoder: Encoder) -> str:
    """Returns the kind of number that nearest entities are found by."""
    return "bf16" if encoder.rows(np.zeros(1, np.int64)).dtype == np.uint16 else "float32"


def _round(model: Model, form: str) -> Model:
    """Returns a copy of the model with the numbers that the form keeps."""
    kept = pack(model.state_dict(), form, model.row_parts)
    parts = {
        prefix: {name.removeprefix(prefix): tensor for name, tensor in kept.items() if name.startswith(prefix)}
        for prefix in ("model.", "scale.")
    }
    twin = copy.deepcopy(model).float()
    twin.load_state_dict(unpack(parts["model."], parts["scale."], model.row_parts))
    return twin.eval().requires_grad_(False)


def _index_like(index: Index, encoder: Encoder, kg: KnowledgeGraph) -> Index:
    """Returns the same kind of index over the rounded rows, with the same options and removed entities."""
    points = None if index.name == "exact" else sample_query_points(kg, encoder)
    made = build_for(encoder, index.name, points=points, **dataclasses.asdict(index.config))
    made.remove(index.removed)
    made.given = index.given
    return made
