"""An engine with another index: everything else stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import torch
from torch import Tensor

from pathformer import config
from pathformer.engine.engine import Engine
from pathformer.index import build, find
from pathformer.query.structures import STRUCTURES, Structure
from pathformer.symbolic.pairs import GraphPair
from pathformer.symbolic.sample import draw_rows, links

__all__ = ["reindex", "typical_points"]

_SHAPES = ("1p", "2p", "3p", "2i", "pi", "2in")


def reindex(engine: Engine, backend: str, settings: Sequence[str] = ()) -> Engine:
    """The same engine over an index of `backend`, its options as `key=value`; tuned on questions of its own graph."""
    options = asdict(config.read(find(backend).config_type, overrides=settings))
    rows = engine.model.entities.weight.detach()
    index = build(backend, rows, engine.model.space, points=typical_points(engine), **options)
    return Engine(engine.kg, engine.model, index, engine.calibration, engine.about, engine.files)


def typical_points(engine: Engine, count: int = 48, seed: int = 0) -> Tensor:
    """Points such as are asked for: up to `count` questions of each of six shapes, walked out of the graph. (D, q)."""
    graphs = GraphPair.of(engine.kg.graph())
    shapes = [STRUCTURES[name] for name in _SHAPES if engine.model.negation or not STRUCTURES[name].negated]
    trees = [structure.tree(row) for structure in shapes for row in _rows(structure, graphs, count, seed)]
    return engine.encoder.points(trees).rows


def _rows(structure: Structure, graphs: GraphPair, count: int, seed: int) -> list[list[int]]:
    if structure == STRUCTURES["1p"]:
        every = links(graphs)
        order = torch.randperm(len(every), generator=torch.Generator().manual_seed(seed))[:count]
        rows: list[list[int]] = every[order.numpy()].tolist()
        return rows
    drawn: list[list[int]] = draw_rows(structure, graphs, count, seed=seed)[0].tolist()
    return drawn
