"""Safety: whether a set is given by what its members are, or only by what they are not.

A disjunct whose answer occurs in no positive atom is a complement: nearly every entity of the graph. Polarity tells it
on the tree, without expanding anything: `open(t)` = some disjunct of t is a complement, `dense(t)` = some disjunct of
the complement of t is one.

    t              open(t)               dense(t)
    projection     no                    yes
    a & b & ...    all of them           any of them
    a | b | ...    any of them           all of them
    !a             dense(a)              open(a)

A projection of a complement, as in the path (e, (r, n, r)), is a projection: allowed.
"""

from __future__ import annotations

from pathformer.query.tree import (
    Anchor,
    Intersection,
    Negation,
    Projection,
    Tree,
    Union,
    intersect,
    map_children,
    unite,
)

__all__ = ["positive", "unsafe_part"]


def unsafe_part(tree: Tree) -> Tree | None:
    """The part of a tree that makes its root a complement, or None where the tree is safe."""
    if not _open(tree):
        return None
    if isinstance(tree, Union):
        return unsafe_part(next(branch for branch in tree.branches if _open(branch)))
    return tree


def positive(tree: Tree) -> Tree:
    """Pushes every negation inwards where what it denies is itself given by what it is not.

    !!a is a, !(!a & !b) is a | b and !(!a | b) is a & !b: a set that can be written without a leading `not` is, so that
    equal questions become equal trees and every safe answer stands in a positive atom. Other negations stay.
    """
    return _complement(positive(tree.of)) if isinstance(tree, Negation) else map_children(tree, positive)


def _complement(tree: Tree) -> Tree:
    match tree:
        case Negation(of):
            return of
        case Intersection(branches) if not _dense(tree):
            return unite(tuple(map(_complement, branches)))
        case Union(branches) if not _dense(tree):
            return intersect(tuple(map(_complement, branches)))
        case _:
            return Negation(tree)


def _open(tree: Tree) -> bool:
    match tree:
        case Anchor() | Projection():
            return False
        case Negation(of):
            return _dense(of)
        case Intersection(branches):
            return all(map(_open, branches))
        case Union(branches):
            return any(map(_open, branches))


def _dense(tree: Tree) -> bool:
    match tree:
        case Anchor() | Projection():
            return True
        case Negation(of):
            return _open(of)
        case Intersection(branches):
            return any(map(_dense, branches))
        case Union(branches):
            return all(map(_dense, branches))
