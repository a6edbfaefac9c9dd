"""An engine with another index: everything else stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from pathformer import config
from pathformer.engine.engine import Engine
from pathformer.engine.storage import searched_rows
from pathformer.engine.typical import typical_points
from pathformer.index import build, find

__all__ = ["reindex"]


def reindex(engine: Engine, backend: str, settings: Sequence[str] = ()) -> Engine:
    """The same engine over an index of `backend`, its options as `key=value`; tuned on questions of its own graph."""
    options = asdict(config.read(find(backend).config_type, overrides=settings))
    rows, points = searched_rows(engine.model, engine.form), typical_points(engine.kg, engine.encoder)
    index = build(backend, rows, engine.model.space, points=points, **options)
    return Engine(engine.kg, engine.model, index, engine.calibration, engine.about, engine.files, engine.form)
