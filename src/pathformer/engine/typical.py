"""Points such as are asked for, to tune and to judge an index by.

D points, q numbers of each.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pathformer.engine.encode import Encoder
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import STRUCTURES, Structure
from pathformer.symbolic.pairs import GraphPair
from pathformer.symbolic.sample import draw_rows, links

__all__ = ["typical_points"]

_SHAPES = ("1p", "2p", "3p", "2i", "pi", "2in")


def typical_points(kg: KnowledgeGraph, encoder: Encoder, count: int = 48, seed: int = 0) -> Tensor:
    """Up to `count` questions of each of six shapes, walked out of the graph and encoded. (D, q)."""
    graphs = GraphPair.of(kg.graph())
    shapes = [STRUCTURES[name] for name in _SHAPES if encoder.model.takes(STRUCTURES[name])]
    trees = [structure.tree(row) for structure in shapes for row in _rows(structure, graphs, count, seed)]
    return encoder.points(trees).rows


def _rows(structure: Structure, graphs: GraphPair, count: int, seed: int) -> list[list[int]]:
    if structure == STRUCTURES["1p"]:
        every = links(graphs)
        order = torch.randperm(len(every), generator=torch.Generator().manual_seed(seed))[:count]
        rows: list[list[int]] = every[order.numpy()].tolist()
        return rows
    drawn: list[list[int]] = draw_rows(structure, graphs, count, seed=seed)[0].tolist()
    return drawn
