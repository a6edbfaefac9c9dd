"""Beliefs from the anchors to the answer: the best assignment below every entity of every node.

N entities, Q questions of one structure, T(v) the belief that entity v is in the set of a node, M the table of links:

    anchor a              T(v) = 1 if v = a, else 0
    projection along r    T(v) = max_u both(T'(u), M_r(u, v))            T' the beliefs of the node below
    intersection          T(v) = both(T_1(v), ..., T_n(v))
    union                 T(v) = either(T_1(v), ..., T_n(v))
    negation              T(v) = 1 - min(1, s T'(v)) of a projection, 1 - T'(v) of any other node

with `both` and `either` of a t-norm. Both only grow with each part, and the branches of a tree share no variable; so
the maximum over u, taken node by node, is the maximum over all assignments of all variables, and T at the root is the
score of the best one. (A variable below a negation belongs to the negation: T' there is its own best assignment.)

A width k follows the predicted links of the k best entities u alone, and the facts of all of them. Links that are left
out can only lower the maximum: scores are lower bounds, exact where k covers all u with T'(u) > 0; below a negation,
bounds from above. Entities whose belief is 1 by facts are so never lost, whatever k is.

Constraints between any two variables have room here: a cycle is a tree as soon as one of its variables is an anchor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from pathformer.links.table import LinkTable
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.search.library import NUMPY, Hop, Library
from pathformer.search.settings import SearchSettings

__all__ = ["Beliefs", "propagate"]

Array = Any  # of the array library


@dataclass(frozen=True, eq=False, slots=True)
class Beliefs:
    """The beliefs of one node of Q trees of one structure, and of the nodes below it."""

    trees: Sequence[Tree]  # (Q,)
    values: Array  # (Q, N)
    below: tuple[Beliefs, ...] = ()  # none below a projection from an anchor
    hop: Hop | None = None  # that gave the values; None for other nodes than projections and denied ones


def propagate(
    trees: Sequence[Tree],
    table: LinkTable,
    settings: SearchSettings,
    library: Library = NUMPY,
    *,
    traced: bool = False,
) -> Beliefs:
    """Returns the beliefs of every node; traced: with what `search.assignment` reads the bindings from."""
    step = partial(propagate, table=table, settings=settings, library=library, traced=traced)
    join, xp = settings.join, library.xp
    match trees[0]:
        case Anchor():
            return Beliefs(trees, library.anchors(_anchors(trees), table.entities))
        case Projection():
            return _project(trees, trees, table, settings, library, traced, None)
        case Negation(Projection()) if settings.negation == "links":
            inner = [_only_child(tree) for tree in trees]
            return _project(trees, inner, table, settings, library, traced, settings.negation_scale)
        case Negation(of):
            below = step([_only_child(tree) for tree in trees])
            scale = settings.negation_scale if isinstance(of, Projection) else 1.0
            return Beliefs(trees, 1 - xp.clip(below.values * scale, 0, 1), (below,))
        case Intersection(branches) | Union(branches):
            parts = tuple(step([_branch(tree, number) for tree in trees]) for number in range(len(branches)))
            fold = partial(join.both if isinstance(trees[0], Intersection) else join.either, xp)
            return Beliefs(trees, reduce(fold, [part.values for part in parts]), parts)


def _project(
    trees: Sequence[Tree],
    projections: Sequence[Tree],
    table: LinkTable,
    settings: SearchSettings,
    library: Library,
    traced: bool,
    denied: float | None,
) -> Beliefs:
    sources = [_only_child(tree) for tree in projections]
    relations = np.array([tree.relation for tree in projections if isinstance(tree, Projection)])
    hop = partial(library.hop, table, settings.join, relations, denied=denied, traced=traced)
    if isinstance(sources[0], Anchor):
        entities = _anchors(sources)
        found = hop((entities[:, None], np.ones((len(entities), 1), np.float32)))
        return Beliefs(trees, found.beliefs, (), found)
    below = propagate(sources, table, settings, library, traced=traced)
    found = hop(library.best(below.values, settings.width), everyone=below.values)
    return Beliefs(trees, found.beliefs, (below,), found)


def _anchors(trees: Sequence[Tree]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([tree.entity for tree in trees if isinstance(tree, Anchor)], np.int64)


def _only_child(tree: Tree) -> Tree:
    assert isinstance(tree, Projection | Negation)
    return tree.of


def _branch(tree: Tree, number: int) -> Tree:
    assert isinstance(tree, Intersection | Union)
    return tree.branches[number]
