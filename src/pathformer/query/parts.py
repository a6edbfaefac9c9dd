"""A query without its negated branches.

A structure is taken apart once, with column numbers in place of ids, so a part of n queries is some columns of their
table.
"""

from __future__ import annotations

from functools import lru_cache

from pathformer.query.computation import Anchor, Intersection, Negation, Projection, Tree, Union, intersect, unite
from pathformer.query.structures import Structure, instance_of_tree, structure_of

__all__ = ["Part", "positive_part"]

Part = tuple[Structure, tuple[int, ...]]  # and its columns in the table of the whole


@lru_cache(maxsize=256)
def positive_part(whole: Structure) -> Part | None:
    """What is left when negated branches of forks are dropped; None where nothing is, or nothing is negated so.

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
        case Projection(relation, of):
            return Projection(relation, _positive(of))
        case Union(branches):
            return unite(tuple(map(_positive, branches)))
        case Intersection(branches):
            kept = tuple(_positive(branch) for branch in branches if not isinstance(branch, Negation))
            return intersect(kept) if kept else tree


def _part(tree: Tree) -> Part:
    shape = structure_of(tree)
    return shape, shape.row(instance_of_tree(tree))
