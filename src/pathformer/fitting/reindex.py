"""An engine with another index: everything else stays as it is.

Points such as are asked for, to tune and to judge an index by.

D points, q numbers of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import torch
from torch import Tensor

from pathformer import config
from pathformer.engine.engine import Engine
from pathformer.engine.storage import searched_rows
from pathformer.index._base import build, find
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._encoder import Encoder
from pathformer.query.structures import STRUCTURES, Structure
from pathformer.querysets.sampler import draw_rows, list_links
from pathformer.symbolic.graph_pair import GraphPair

__all__ = ["reindex", "typical_points"]


def reindex(engine: Engine, backend: str, settings: Sequence[str] = ()) -> Engine:
    """The same engine over an index of `backend`, its options as `key=value`; tuned on questions of its own graph."""
    options = asdict(config.read(find(backend).config_type, overrides=settings))
    rows, points = searched_rows(engine.model, engine.form), typical_points(engine.kg, engine.encoder)
    index = build(backend, rows, engine.model.space, points=points, **options)
    return Engine(engine.kg, engine.model, index, engine.calibration, engine.about, engine.files, engine.form)


_SHAPES = ("1p", "2p", "3p", "2i", "pi", "2in")


def typical_points(kg: KnowledgeGraph, encoder: Encoder, count: int = 48, seed: int = 0) -> Tensor:
    """Up to `count` questions of each of six shapes, walked out of the graph and encoded. (D, q)."""
    graphs = GraphPair.of(kg.graph())
    shapes = [STRUCTURES[name] for name in _SHAPES if encoder.model.takes(STRUCTURES[name])]
    trees = [structure.tree(row) for structure in shapes for row in _rows(structure, graphs, count, seed)]
    return encoder.points(trees).rows


def _rows(structure: Structure, graphs: GraphPair, count: int, seed: int) -> list[list[int]]:
    if structure == STRUCTURES["1p"]:
        every = list_links(graphs)
        order = torch.randperm(len(every), generator=torch.Generator().manual_seed(seed))[:count]
        rows: list[list[int]] = every[order.numpy()].tolist()
        return rows
    drawn: list[list[int]] = draw_rows(structure, graphs, count, seed=seed)[0].tolist()
    return drawn
