"""Unions: out of the tree (`to_dnf`), or rewritten by De Morgan (`to_demorgan`).

A union is lifted through projections and intersections. Under a negation it becomes an intersection of negations; a
negated intersection is never expanded, since its complement is one set that a path can end in ([Negation] after a
fork). The one exception is an intersection of negations alone: its complement is a union written by De Morgan.

    r(a | b)         =  r(a) | r(b)               a & (b | c)   =  (a & b) | (a & c)
    !(a | b)         =  !a & !b                   !!a           =  a
    !r(a | b)        =  !r(a) & !r(b)             !(!a & !b)    =  a | b

Disjuncts multiply, so they are counted before any is made.
"""

from __future__ import annotations

from itertools import product
from math import log10, prod

from pathformer.errors import QuerySizeError
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union, intersect, map_children

__all__ = ["DISJUNCT_LIMIT", "disjuncts", "figure", "to_demorgan", "to_dnf"]

DISJUNCT_LIMIT = 1024
_ANCHORS_A_DISJUNCT = 1024  # with the limit above, bounds the size of all disjuncts together


def to_dnf(tree: Tree, limit: int = DISJUNCT_LIMIT) -> tuple[Tree, ...]:
    """Union-free trees, each different, whose answers together are those of `tree`; QuerySizeError beyond `limit`."""
    pushed = _push(tree)
    _guard(pushed, limit)
    return tuple(dict.fromkeys(_lift(pushed)))


def disjuncts(tree: Tree) -> int:
    """Counts the disjuncts that `to_dnf` would make, repeats included, without making them."""
    return _count(_push(tree))[0]


def to_demorgan(tree: Tree) -> Tree:
    """Rewrites a tree without unions, as one tree of the same answers: a | b becomes !(!a & !b)."""
    match tree:
        case Negation(of):
            return _negate(to_demorgan(of))
        case Union(branches):
            return _negate(intersect(tuple(_negate(to_demorgan(branch)) for branch in branches)))
        case _:
            return map_children(tree, to_demorgan)


def _push(tree: Tree) -> Tree:
    """Drop double negations, and push negations through unions."""
    return _complement(_push(tree.of)) if isinstance(tree, Negation) else map_children(tree, _push)


def _complement(pushed: Tree) -> Tree:
    match pushed:
        case Negation(of):
            return of
        case Union(branches):
            return intersect(tuple(map(_complement, branches)))
        case Intersection(branches) if all(isinstance(branch, Negation) for branch in branches):
            return Union(tuple(map(_complement, branches)))
        case _:
            return Negation(pushed)


def _guard(pushed: Tree, limit: int) -> None:
    count, peak, anchors = _count(pushed)
    if peak > limit:
        where = "" if count == peak else " inside a negation"
        raise QuerySizeError(
            f"with every 'or' outermost there are {figure(peak)} disjuncts{where}; the limit is {limit:,}: "
            "use fewer 'or' parts that multiply, or ask for the parts one by one"
        )
    if anchors > limit * _ANCHORS_A_DISJUNCT:
        raise QuerySizeError(
            f"with every 'or' outermost there are {figure(anchors)} constants in all; "
            f"the limit is {limit * _ANCHORS_A_DISJUNCT:,}: use fewer 'or' parts that multiply"
        )


def figure(count: int) -> str:
    """Writes a count for people: in full while it can be read, else as a power of ten."""
    return f"{count:,}" if count < 10**15 else f"about 10^{log10(count):.0f}"


def _count(pushed: Tree) -> tuple[int, int, int]:
    """Counts disjuncts, the most at any node (a negation unites its own again), and anchors in all of them."""
    match pushed:
        case Anchor():
            return 1, 1, 1
        case Projection(_, of):
            return _count(of)
        case Negation(of):
            _, peak, anchors = _count(of)
            return 1, peak, anchors
        case Union(branches):
            counts = [_count(branch) for branch in branches]
            count = sum(c for c, _, _ in counts)
            return count, max(count, *(p for _, p, _ in counts)), sum(a for _, _, a in counts)
        case Intersection(branches):
            counts = [_count(branch) for branch in branches]
            count = prod(c for c, _, _ in counts)
            return count, max(count, *(p for _, p, _ in counts)), sum(a * (count // c) for c, _, a in counts)


def _lift(pushed: Tree) -> list[Tree]:
    match pushed:
        case Anchor():
            return [pushed]
        case Projection(relation, of, variable):
            return [Projection(relation, disjunct, variable) for disjunct in _lift(of)]
        case Negation(of):
            return [intersect(tuple(map(_negate, _lift(of))))]
        case Union(branches):
            return [disjunct for branch in branches for disjunct in _lift(branch)]
        case Intersection(branches):
            return [intersect(choice) for choice in product(*map(_lift, branches))]


def _negate(tree: Tree) -> Tree:
    return tree.of if isinstance(tree, Negation) else Negation(tree)
