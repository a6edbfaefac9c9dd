"""Entities that cannot answer a query, however the graph is completed.

A missing edge may turn out to be true; a stated edge stays true. So a positive part that holds now always holds, a
negated part fails as soon as the graph states what it denies, and a projection can always gain tails:

    certain(a)        = {a}            denied(a)         = all but a
    certain(r(S))     = r(certain S)   denied(r(S))      = nothing
    certain(S & T)    = both           denied(S & T)     = denied S | denied T
    certain(S | T)    = either         denied(S | T)     = denied S & denied T
    certain(!S)       = denied S       denied(!S)        = certain S
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.kg.graph import Graph
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union, intersect, unite
from pathformer.symbolic.answer import answer

__all__ = ["impossible_answers"]


def impossible_answers(tree: Tree, graph: Graph) -> npt.NDArray[np.int32]:
    """Returns the entities that answer the tree on no graph that holds all edges of this one, ascending."""
    out = _deny(tree)
    return np.empty(0, np.int32) if out is None else answer(out, graph)


def _certain(tree: Tree) -> Tree | None:
    """Returns a tree whose answers answer `tree` on every larger graph; None if there are no such answers."""
    match tree:
        case Anchor():
            return tree
        case Projection(relation, of, variable):
            inner = _certain(of)
            return None if inner is None else Projection(relation, inner, variable)
        case Negation(of):
            return _deny(of)
        case Intersection(branches):
            return _intersect_all([_certain(branch) for branch in branches])
        case Union(branches):
            return _unite_any([_certain(branch) for branch in branches])


def _deny(tree: Tree) -> Tree | None:
    """Returns a tree whose answers answer `tree` on no larger graph; None if there are no such answers."""
    match tree:
        case Anchor():
            return Negation(tree)
        case Projection():
            return None
        case Negation(of):
            return _certain(of)
        case Intersection(branches):
            return _unite_any([_deny(branch) for branch in branches])
        case Union(branches):
            return _intersect_all([_deny(branch) for branch in branches])


def _intersect_all(parts: list[Tree | None]) -> Tree | None:
    present = tuple(part for part in parts if part is not None)
    return intersect(present) if len(present) == len(parts) else None


def _unite_any(parts: list[Tree | None]) -> Tree | None:
    present = tuple(part for part in parts if part is not None)
    return unite(present) if present else None
