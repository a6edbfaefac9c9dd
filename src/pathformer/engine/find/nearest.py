"""Candidates of any trees: what the graph proves, and the nearest of what it neither proves nor refutes.

B trees, D points of theirs, N entities.

Known answers come from exact traversal and are all there, however far the model puts them. The others come from the
index: it is asked for as many more as there are known and refuted entities, since those may be the nearest, and asked
again for more where an approximate one still gave too few. A union is as near as its nearest disjunct, or what the
model's `combine` makes of them (`engine.union`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.known import ExactSets
from pathformer.engine.find.union import unite
from pathformer.index._base import Index
from pathformer.kg.schema import RelationSchema
from pathformer.plan.encoder import Encoder, Points
from pathformer.query.tree import Tree
from pathformer.symbolic.impossible import impossible_answers
from pathformer.symbolic.plausible import log_mean_tails

__all__ = ["distances_to", "search"]

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

_FIRST = 64  # entities asked for at least; more come in powers of four, so that few sizes occur in a batch
_FEW = 1000  # barred entities that are asked for and left out again; more of them are hidden from the index instead
_LISTED = 1 << 22  # entities found by one search, all points together
_ROWS = 1 << 14  # known answers whose distance is computed at once


def search(trees: Sequence[Tree], schema: RelationSchema, encoder: Encoder, index: Index, top: int) -> list[Candidates]:
    """The known answers on the graph of `schema` and the `top` nearest other entities of every tree."""
    if not trees:
        return []
    graph = schema.graph
    sets = [ExactSets(graph) for _ in trees]
    known = [own.of(tree) for own, tree in zip(sets, trees, strict=True)]
    refused = [impossible_answers(tree, graph) for tree in trees]
    barred = [np.union1d(one, other) if len(other) else one for one, other in zip(known, refused, strict=True)]
    points = encoder.points(trees)
    plain = [encoder.combine == "smallest" or len(points.of(place)) == 1 for place in range(len(trees))]
    outside = _outside(points, index, barred, top, [place for place, alone in enumerate(plain) if alone])
    result = []
    for place, (tree, certain) in enumerate(zip(trees, known, strict=True)):
        ids = certain.astype(np.int64)
        if plain[place]:
            near, others, distances = distances_to(encoder, points.of(place), ids), *outside[place]
        else:
            near, others, distances = unite(points.of(place), encoder, index, ids, barred[place].astype(np.int64), top)
        result.append(_merged(tree, ids, near, others, distances, schema, sets[place]))
    return result


def distances_to(encoder: Encoder, points: Floats, entities: npt.NDArray[np.integer]) -> Floats:
    """The distance of each entity (n,) to the nearest of the points (P, f): (n,)."""
    parts = [entities[first : first + _ROWS] for first in range(0, len(entities), _ROWS)]
    near = [encoder.distances(points, part).min(axis=0) for part in parts]
    return np.concatenate([np.empty(0, np.float32), *near])


def _outside(
    points: Points, index: Index, barred: Sequence[npt.NDArray[np.integer]], top: int, places: Sequence[int]
) -> dict[int, tuple[Ids, Floats]]:
    """The `top` nearest entities outside the barred ones of the trees at these places."""
    found = {place: (np.empty(0, np.int64), np.empty(0, np.float32)) for place in places}
    if not top:
        return found
    entities = index.rows
    wanted = {place: _size(top + len(barred[place]), entities) for place in places if len(barred[place]) <= _FEW}
    while wanted:
        again: dict[int, int] = {}
        for group, size in _groups(wanted, points):
            rows = np.concatenate([np.arange(points.ptr[place], points.ptr[place + 1]) for place in group])
            ids, distances = index.nearest(points.rows[rows], size)
            ends = np.cumsum([points.ptr[place + 1] - points.ptr[place] for place in group])
            parts = zip(group, np.split(ids, ends[:-1]), np.split(distances, ends[:-1]), strict=True)
            for place, near, far in parts:
                found[place] = _best(near, far, barred[place], top)
                if len(found[place][0]) < top and size < entities:
                    again[place] = min(4 * size, entities)
        wanted = again
    for place in places:
        if len(barred[place]) > _FEW:
            found[place] = _masked(points.of(place), index, barred[place], top)
    return found


def _groups(wanted: dict[int, int], points: Points) -> Iterator[tuple[list[int], int]]:
    """Trees that want the same number of entities, as many at once as the memory for their lists bears."""
    for size in sorted(set(wanted.values())):
        places: list[int] = []
        for place in (place for place, k in wanted.items() if k == size):
            if places and (points.ptr[place + 1] - points.ptr[places[0]]) * size > _LISTED:
                yield places, size
                places = []
            places.append(place)
        yield places, size


def _masked(points: Floats, index: Index, barred: npt.NDArray[np.integer], top: int) -> tuple[Ids, Floats]:
    """The same for one tree with many barred entities: the index is told to leave them out."""
    allowed = np.ones(index.rows, np.bool_)
    allowed[barred] = False
    size, there = _size(top, index.rows), int(allowed.sum())
    while True:
        found = _best(*index.nearest(points, size, allowed), barred[:0], top)
        if len(found[0]) >= min(top, there) or size >= index.rows:
            return found
        size = min(4 * size, index.rows)


def _size(count: int, entities: int) -> int:
    size = _FIRST
    while size < count:
        size *= 4
    return min(size, entities)


def _best(ids: Ids, distances: Floats, barred: npt.NDArray[np.integer], top: int) -> tuple[Ids, Floats]:
    """Of the entities found for the points (P, k) of one tree the `top` nearest, each once; below 0 stands for none."""
    flat, far = ids.reshape(-1), distances.reshape(-1)
    keep = flat >= 0
    if len(barred):
        keep &= ~np.isin(flat, barred)
    flat, far = flat[keep], far[keep]
    if len(ids) > 1:  # of a union: in one order, and every entity once
        order = np.argsort(far, kind="stable")
        _, first = np.unique(flat[order], return_index=True)
        chosen = order[np.sort(first)]
        flat, far = flat[chosen], far[chosen]
    return flat[:top], far[:top]


def _merged(
    tree: Tree, known: Ids, near: Floats, others: Ids, distances: Floats, schema: RelationSchema, sets: ExactSets
) -> Candidates:
    ids, far = np.concatenate([known, others]), np.concatenate([near, distances])
    order = np.argsort(far, kind="stable")
    return Candidates(
        tree=tree,
        entities=ids[order],
        distances=far[order],
        known=order < len(known),
        implausible=np.zeros(len(ids), np.bool_),
        entity_count=schema.graph.entities,
        ends=log_mean_tails(tree, schema),
        sets=sets,
    )
