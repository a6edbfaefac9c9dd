"""Parts of queries: a structure without its negated branches, and whether a tree denies a part that it asks for.

A structure is taken apart once, with column numbers in place of ids, so a part of n queries is some columns of their
table.
"""

from __future__ import annotations

from functools import lru_cache

from pathformer.query.compile.dnf import DISJUNCT_LIMIT, disjuncts, to_dnf
from pathformer.query.structures import Structure, instance_of_tree, structure_of
from pathformer.query.tree import (
    Anchor,
    Intersection,
    Negation,
    Projection,
    Tree,
    Union,
    canonical,
    children,
    intersect,
    map_children,
)

__all__ = ["Part", "contradicts_itself", "positive_part"]

Part = tuple[Structure, tuple[int, ...]]  # and its columns in the table of the whole


@lru_cache(maxsize=256)
def positive_part(whole: Structure) -> Part | None:
    """Drops the negated branches of forks; None if nothing is left, or none is negated.

    >>> from pathformer.query.structures import STRUCTURES
    >>> part, columns = positive_part(STRUCTURES["pni"])
    >>> part.name, columns
    ('1p', (3, 4))
    """
    tree = whole.tree(range(len(whole.columns)))
    left = _positive(tree)
    return None if left == tree else _part(left)


def _positive(tree: Tree) -> Tree:
    """The tree without negated branches; complements inside a path, and forks of nothing else, stay as they are."""
    match tree:
        case Anchor() | Negation():
            return tree
        case Intersection(branches):
            kept = tuple(_positive(branch) for branch in branches if not isinstance(branch, Negation))
            return intersect(kept) if kept else tree
        case _:
            return map_children(tree, _positive)


def _part(tree: Tree) -> Part:
    shape = structure_of(tree)
    return shape, shape.row(instance_of_tree(tree))


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
