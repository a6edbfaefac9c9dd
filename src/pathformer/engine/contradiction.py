"""Whether a question denies what it asks for, so that no graph has an answer to it."""

from __future__ import annotations

from pathformer.query.computation import Anchor, Intersection, Negation, Projection, Tree, Union, canonical, children
from pathformer.query.dnf import DISJUNCT_LIMIT, disjuncts, to_dnf

__all__ = ["contradicts_itself"]


def contradicts_itself(tree: Tree) -> bool:
    """Whether every disjunct of a tree holds a fork with a part and that part's own negation.

    Exact for parts that are written alike up to order, nesting and double negation; others that exclude each other are
    not searched for, nor is a question of more disjuncts than can be made.
    """
    if not _negates(tree) or disjuncts(tree) > DISJUNCT_LIMIT:
        return False
    return all(_empty(canonical(disjunct)) for disjunct in to_dnf(tree))


def _negates(tree: Tree) -> bool:
    return isinstance(tree, Negation) or any(map(_negates, children(tree)))


def _empty(tree: Tree) -> bool:
    """Whether a canonical tree has no answer on any graph, as far as its forks tell."""
    match tree:
        case Anchor() | Negation():
            return False
        case Projection(_, of):
            return _empty(of)
        case Union(branches):
            return all(map(_empty, branches))
        case Intersection(branches):
            given = set(branches)
            denied = (_parts(branch.of) for branch in branches if isinstance(branch, Negation))
            return any(map(_empty, branches)) or any(parts <= given for parts in denied)


def _parts(tree: Tree) -> set[Tree]:
    return set(tree.branches) if isinstance(tree, Intersection) else {tree}
