"""A trained engine in its release form: the same answers, or nearly, in half or a quarter of the size.

What comes back is what opening the release will give: weights that were rounded and widened again, and an index over
the rounded rows, so that it can be asked and measured before anything is written.
"""

from __future__ import annotations

import copy
import dataclasses
import json

import torch
from torch import Tensor

from pathformer import __version__
from pathformer.engine.storage import CARD, RELEASE, Parts, searched_rows
from pathformer.errors import InputError
from pathformer.fitting.card import Kept, card_of, notices_of
from pathformer.fitting.cost import Cost
from pathformer.fitting.forms import FULL, check_form, packed, unpacked
from pathformer.fitting.reindex import typical_points
from pathformer.index._base import Index, build
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import Model
from pathformer.models._encoder import Encoder

__all__ = ["check_source", "priced", "released"]

_REPORT = "report.md"


def released(parts: Parts, form: str) -> Parts:
    """The parts of an engine as a release in `form`, "bf16" or "int8", with its card."""
    check_source(parts.form, form)
    if parts.form == form:
        return parts
    model = _rounded(parts.model, form)
    index = _indexed(parts.index, model, form, parts.kg)
    return _described(dataclasses.replace(parts, model=model, index=index, form=form), None)


def priced(release: Parts, cost: Cost) -> Parts:
    """A release that says what its form costs: in its card, in its report, and in `release.json`."""
    report = release.files.get(_REPORT)
    added = {} if report is None else {_REPORT: report + f"\n## In released form\n\n{cost.sentence()}\n".encode()}
    return _described(dataclasses.replace(release, files={**release.files, **added}), cost)


def check_source(now: str, form: str) -> None:
    """Refuse a form that there is not, and another one of a release: what was rounded away does not come back."""
    check_form(form)
    if now not in (FULL, form):
        raise InputError(
            f"this engine is a release in {now} already, and what was rounded away does not come back: "
            f"release the engine that it was made from in {form}"
        )


def _described(release: Parts, cost: Cost | None) -> Parts:
    state = release.model.state_dict()
    kept = Kept(
        form=release.form,
        bytes_before=_size(state),
        bytes_after=_size(packed(state, release.form, release.model.row_parts)),
        searched=_number(searched_rows(release.model, release.form)),
        cost=cost,
    )
    told = {
        "form": kept.form,
        "bytes": {FULL: kept.bytes_before, kept.form: kept.bytes_after},
        "cost": None if cost is None else cost.plain(),
        "version": __version__,
    }
    files = {
        **release.files,
        **notices_of(release.kg),
        CARD: card_of(release, kept).encode(),
        RELEASE: (json.dumps(told, indent=2) + "\n").encode(),
    }
    return dataclasses.replace(release, files=files)


def _size(tensors: dict[str, Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def _number(rows: Tensor) -> str:
    return "bf16" if rows.dtype is torch.bfloat16 else "float32"


def _rounded(model: Model, form: str) -> Model:
    """A copy of the model with the numbers that the form keeps."""
    kept = packed(model.state_dict(), form, model.row_parts)
    parts = {
        prefix: {name.removeprefix(prefix): tensor for name, tensor in kept.items() if name.startswith(prefix)}
        for prefix in ("model.", "scale.")
    }
    twin = copy.deepcopy(model).float()
    twin.load_state_dict(unpacked(parts["model."], parts["scale."], model.row_parts))
    return twin.eval().requires_grad_(False)


def _indexed(index: Index, model: Model, form: str, kg: KnowledgeGraph) -> Index:
    """The same index over the rounded rows; what was removed from it stays so, and what was asked of it."""
    rows, options = searched_rows(model, form), dataclasses.asdict(index.config)
    points = None if index.name == "exact" else typical_points(kg, Encoder(model))
    made = build(index.name, rows, model.space, points=points, **options)
    made.remove(index.removed)
    made.given = index.given
    return made
