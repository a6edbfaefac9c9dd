"""An engine with another index, tuned by points like those of questions.

D points, f numbers of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import numpy.typing as npt

from pathformer import config
from pathformer.engine.engine import Engine
from pathformer.index._base import build_for, find
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.plan.encoder import Encoder
from pathformer.query.structures import STRUCTURES, Structure
from pathformer.querysets.sampler import draw_rows, list_links
from pathformer.symbolic.graph_pair import GraphPair

__all__ = ["reindex", "sample_query_points", "takes", "with_index_like"]

_STRUCTURES = ("1p", "2p", "3p", "2i", "pi", "2in")


def reindex(engine: Engine, backend: str, settings: Sequence[str] = ()) -> Engine:
    """Returns the engine over an index of `backend`, tuned by questions of its own graph; settings: `key=value`."""
    options = asdict(config.read(find(backend).config_type, overrides=settings))
    index = build_for(engine.encoder, backend, points=sample_query_points(engine.kg, engine.encoder), **options)
    return Engine.of(replace(engine.parts, finders=replace(engine.finders, index=index)))


def with_index_like(old: Engine, updated: Engine) -> Engine:
    """Gives an updated engine an index like the old one: the options that were asked for, and what was removed."""
    given = old.index.given
    if old.index.name != "exact" or given != type(given)():
        updated = reindex(updated, old.index.name, [f"{option}={value}" for option, value in asdict(given).items()])
    updated.index.remove(old.index.removed)
    return updated


def sample_query_points(
    kg: KnowledgeGraph, encoder: Encoder, count: int = 48, seed: int = 0
) -> npt.NDArray[np.float32]:
    """Walks up to `count` queries of each of six structures out of the graph and encodes them: (D, f)."""
    graphs = GraphPair.of(kg.graph())
    taken = [STRUCTURES[name] for name in _STRUCTURES if takes(encoder, STRUCTURES[name])]
    trees = [structure.tree(row) for structure in taken for row in _rows(structure, graphs, count, seed)]
    return encoder.points(trees).rows


def takes(encoder: Encoder, structure: Structure) -> bool:
    """Whether the encoder's method can encode queries of a structure."""
    return encoder.takes(structure.tree([0] * len(structure.columns)))


def _rows(structure: Structure, graphs: GraphPair, count: int, seed: int) -> list[list[int]]:
    """Draws up to `count` queries of a structure, as rows of ids."""
    if structure == STRUCTURES["1p"]:
        every = list_links(graphs)
        rows: list[list[int]] = every[np.random.default_rng(seed).permutation(len(every))[:count]].tolist()
        return rows
    drawn: list[list[int]] = draw_rows(structure, graphs, count, seed=seed)[0].tolist()
    return drawn
