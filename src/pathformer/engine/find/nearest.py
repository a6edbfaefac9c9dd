"""The nearest entities of trees: all known answers, and the nearest entities that the graph neither proves nor refutes.

P points of a tree (several for a union), N entities.

Known answers come from exact traversal, however far the model puts them. The others come from the index. It is asked
for more than `top`, since known and refuted entities may be the nearest, and asked again if an approximate index gave
too few. A union is as near as its nearest disjunct, or as the model's `combine` says (`find.weighted_union`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pathformer.engine.find.candidates import Candidates
from pathformer.engine.find.exact_sets import ExactSets
from pathformer.engine.find.weighted_union import unite
from pathformer.index._base import Index
from pathformer.kg.schema import RelationSchema
from pathformer.plan.encoder import Encoder, Points
from pathformer.query.tree import Tree
from pathformer.symbolic.impossible import impossible_answers
from pathformer.symbolic.plausible import log_mean_tails

__all__ = ["distances_to", "find_known", "find_nearest"]

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

_FIRST = 64  # fewest entities asked for; more come in powers of four, so that a batch has few sizes
_FEW = 1000  # most barred entities that are found and dropped; more are masked in the index instead
_LISTED = 1 << 22  # most entities found by one call of the index, over all points
_ROWS = 1 << 14  # known answers whose distances are computed at once


def find_nearest(
    trees: Sequence[Tree], schema: RelationSchema, encoder: Encoder, index: Index, top: int
) -> list[Candidates]:
    """Returns the known answers of each tree on the graph of `schema`, and the `top` nearest other entities."""
    if not trees:
        return []
    graph = schema.graph
    sets = [ExactSets(graph) for _ in trees]
    known = [own.of(tree) for own, tree in zip(sets, trees, strict=True)]
    refused = [impossible_answers(tree, graph) for tree in trees]
    barred = [np.union1d(one, other) if len(other) else one for one, other in zip(known, refused, strict=True)]
    points = encoder.points(trees)
    plain = [encoder.combine == "smallest" or len(points.of(number)) == 1 for number in range(len(trees))]
    outside = _nearest_allowed(points, index, barred, top, [number for number, alone in enumerate(plain) if alone])
    result = []
    for number, (tree, certain) in enumerate(zip(trees, known, strict=True)):
        ids = certain.astype(np.int64)
        if plain[number]:
            near, others, distances = distances_to(encoder, points.of(number), ids), *outside[number]
        else:
            near, others, distances = unite(
                points.of(number), encoder, index, ids, barred[number].astype(np.int64), top
            )
        result.append(_merge(tree, ids, near, others, distances, schema, sets[number]))
    return result


def find_known(tree: Tree, schema: RelationSchema) -> Candidates:
    """Returns the known answers of a tree alone."""
    sets, nothing = ExactSets(schema.graph), np.zeros(0, np.float32)
    known = sets.of(tree).astype(np.int64)
    return _merge(tree, known, np.zeros(len(known), np.float32), np.zeros(0, np.int64), nothing, schema, sets)


def distances_to(encoder: Encoder, points: Floats, entities: npt.NDArray[np.integer]) -> Floats:
    """Returns the distance of each entity (n,) to the nearest of the points (P, f): (n,)."""
    parts = [entities[first : first + _ROWS] for first in range(0, len(entities), _ROWS)]
    near = [encoder.distances(points, part).min(axis=0) for part in parts]
    return np.concatenate([np.empty(0, np.float32), *near])


def _nearest_allowed(
    points: Points, index: Index, barred: Sequence[npt.NDArray[np.integer]], top: int, numbers: Sequence[int]
) -> dict[int, tuple[Ids, Floats]]:
    """Returns the `top` nearest entities that are not barred, for each of these trees, by their number."""
    found = {number: (np.empty(0, np.int64), np.empty(0, np.float32)) for number in numbers}
    if not top:
        return found
    entities = index.rows
    wanted = {number: _size(top + len(barred[number]), entities) for number in numbers if len(barred[number]) <= _FEW}
    while wanted:
        again: dict[int, int] = {}
        for group, size in _groups(wanted, points):
            rows = np.concatenate([np.arange(points.ptr[number], points.ptr[number + 1]) for number in group])
            ids, distances = index.nearest(points.rows[rows], size)
            ends = np.cumsum([points.ptr[number + 1] - points.ptr[number] for number in group])
            parts = zip(group, np.split(ids, ends[:-1]), np.split(distances, ends[:-1]), strict=True)
            for number, near, far in parts:
                found[number] = _best(near, far, barred[number], top)
                if len(found[number][0]) < top and size < entities:
                    again[number] = min(4 * size, entities)
        wanted = again
    for number in numbers:
        if len(barred[number]) > _FEW:
            found[number] = _nearest_masked(points.of(number), index, barred[number], top)
    return found


def _groups(wanted: dict[int, int], points: Points) -> Iterator[tuple[list[int], int]]:
    """Groups trees that want the same number of entities, as many as the memory for their lists allows."""
    for size in sorted(set(wanted.values())):
        numbers: list[int] = []
        for number in (number for number, k in wanted.items() if k == size):
            if numbers and (points.ptr[number + 1] - points.ptr[numbers[0]]) * size > _LISTED:
                yield numbers, size
                numbers = []
            numbers.append(number)
        yield numbers, size


def _nearest_masked(points: Floats, index: Index, barred: npt.NDArray[np.integer], top: int) -> tuple[Ids, Floats]:
    """Returns the nearest entities of one tree with many barred ones, which are masked in the index."""
    allowed = np.ones(index.rows, np.bool_)
    allowed[barred] = False
    size, there = _size(top, index.rows), int(allowed.sum())
    while True:
        found = _best(*index.nearest(points, size, allowed), barred[:0], top)
        if len(found[0]) >= min(top, there) or size >= index.rows:
            return found
        size = min(4 * size, index.rows)


def _size(count: int, entities: int) -> int:
    """Rounds a number of entities up to a size that occurs often."""
    size = _FIRST
    while size < count:
        size *= 4
    return min(size, entities)


def _best(ids: Ids, distances: Floats, barred: npt.NDArray[np.integer], top: int) -> tuple[Ids, Floats]:
    """Returns the `top` nearest entities found for one tree's points (P, k), each once; an id below 0 is none."""
    flat, far = ids.reshape(-1), distances.reshape(-1)
    keep = flat >= 0
    if len(barred):
        keep &= ~np.isin(flat, barred)
    flat, far = flat[keep], far[keep]
    if len(ids) > 1:  # a union: sort over its points, and keep every entity once
        order = np.argsort(far, kind="stable")
        _, first = np.unique(flat[order], return_index=True)
        chosen = order[np.sort(first)]
        flat, far = flat[chosen], far[chosen]
    return flat[:top], far[:top]


def _merge(
    tree: Tree, known: Ids, near: Floats, others: Ids, distances: Floats, schema: RelationSchema, sets: ExactSets
) -> Candidates:
    """Returns the known answers and the others as candidates, nearest first."""
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
