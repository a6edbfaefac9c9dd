"""The query computation tree (the paper's "Query Computation Tree and Set Logic Operators").

Leaves are anchor entities, the root is the answer, every inner node is a set operator. Ids only: entity ids, and
directed relation ids (2k forward, 2k + 1 its inverse), so one tree serves exact traversal, Pathformer, link-by-link
and whole-query methods alike.

A projection also keeps the name that the query gave to the variable of its values, for people; trees that differ in
names alone are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral

from pathformer.errors import QueryError

__all__ = [
    "Anchor",
    "Intersection",
    "Negation",
    "NodeId",
    "Projection",
    "Tree",
    "Union",
    "canonical",
    "children",
    "depth",
    "intersect",
    "map_children",
    "node_at",
    "unite",
    "variable_of",
]


@dataclass(frozen=True, slots=True)
class Anchor:
    """The set that holds one known entity."""

    entity: int

    def __post_init__(self) -> None:
        _check_id("an Anchor holds the id of an entity", self.entity)


@dataclass(frozen=True, slots=True)
class Projection:
    """All tails of `relation` (directed id) from entities of `of`."""

    relation: int
    of: Tree
    variable: str | None = field(default=None, compare=False, repr=False)  # what its tails are called, if they are

    def __post_init__(self) -> None:
        _check_id("a Projection goes along the id of a directed relation", self.relation)
        _check_node("Projection", self.of)


@dataclass(frozen=True, slots=True)
class Intersection:
    """Entities in every branch (two or more)."""

    branches: tuple[Tree, ...]

    def __post_init__(self) -> None:
        _check_branches("Intersection", self.branches)


@dataclass(frozen=True, slots=True)
class Union:
    """Entities in at least one branch (two or more)."""

    branches: tuple[Tree, ...]

    def __post_init__(self) -> None:
        _check_branches("Union", self.branches)


@dataclass(frozen=True, slots=True)
class Negation:
    """All entities of the graph that are not in `of`."""

    of: Tree

    def __post_init__(self) -> None:
        _check_node("Negation", self.of)


Tree = Anchor | Projection | Intersection | Union | Negation
NodeId = tuple[int, ...]  # which child to take at each step from the root


def canonical(tree: Tree) -> Tree:
    """Returns the representative of all trees equal up to branch order, nesting of like forks and double negation.

    Nested intersections (unions) are flattened, repeated branches merged, branches sorted, double negations dropped.
    """
    match tree:
        case Negation(of):
            inner = canonical(of)
            return inner.of if isinstance(inner, Negation) else Negation(inner)
        case Intersection(branches) | Union(branches):
            return _fork(type(tree), branches)
        case _:
            return map_children(tree, canonical)


def intersect(branches: tuple[Tree, ...]) -> Tree:
    """Intersects one or more branches; the branches of an intersection directly among them are taken in."""
    flat = tuple(b for branch in branches for b in (branch.branches if isinstance(branch, Intersection) else (branch,)))
    return flat[0] if len(flat) == 1 else Intersection(flat)


def unite(branches: tuple[Tree, ...]) -> Tree:
    """Unites one or more branches; the branches of a union directly among them are taken in."""
    flat = tuple(b for branch in branches for b in (branch.branches if isinstance(branch, Union) else (branch,)))
    return flat[0] if len(flat) == 1 else Union(flat)


def depth(tree: Tree) -> int:
    """Returns the most nodes between the root and an anchor; without recursion, since it guards what recurses."""
    level: list[Tree] = [tree]
    count = 0
    while level:
        count += 1
        level = [child for node in level for child in children(node)]
    return count


def children(tree: Tree) -> tuple[Tree, ...]:
    """Returns the nodes directly below a node."""
    match tree:
        case Anchor():
            return ()
        case Projection(_, of) | Negation(of):
            return (of,)
        case Intersection(branches) | Union(branches):
            return branches


def map_children(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """Rebuilds a node over its changed children; a fork directly in a fork of its kind is merged."""
    match tree:
        case Anchor():
            return tree
        case Projection(relation, of, variable):
            return Projection(relation, change(of), variable)
        case Negation(of):
            return Negation(change(of))
        case Intersection(branches):
            return intersect(tuple(map(change, branches)))
        case Union(branches):
            return unite(tuple(map(change, branches)))


def node_at(tree: Tree, node: NodeId) -> Tree:
    """Returns the subtree at a node."""
    for child in node:
        tree = children(tree)[child]
    return tree


def variable_of(tree: Tree) -> str | None:
    """Returns the name of the variable whose values a tree gives; None for an anchor or without a name."""
    match tree:
        case Anchor():
            return None
        case Projection(variable=variable):
            return variable
        case Negation(of):
            return variable_of(of)
        case Intersection(branches) | Union(branches):
            return next(filter(None, map(variable_of, branches)), None)


def _fork(kind: type[Intersection] | type[Union], branches: tuple[Tree, ...]) -> Tree:
    flat: set[Tree] = set()
    for branch in map(canonical, branches):
        flat.update(branch.branches if isinstance(branch, kind) else (branch,))
    ordered = sorted(flat, key=repr)
    return ordered[0] if len(ordered) == 1 else kind(tuple(ordered))


_NODES = (Anchor, Projection, Intersection, Union, Negation)


def _check_id(rule: str, given: object) -> None:
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise QueryError(f"{rule}, a whole number, not {_told(given)}")


def _check_node(kind: str, given: object) -> None:
    if not isinstance(given, _NODES):
        raise QueryError(f"a {kind} stands on another node of the tree, not on {_told(given)}")


def _check_branches(kind: str, given: object) -> None:
    if not isinstance(given, tuple) or len(given) < 2:
        count = f"a tuple of {len(given)}" if isinstance(given, tuple) else _told(given)
        raise QueryError(f"the branches of {kind} are a tuple of two or more nodes, not {count}")
    for branch in given:
        _check_node(kind, branch)


def _told(value: object) -> str:
    """Names a wrong value by its type."""
    return "None" if value is None else f"a {type(value).__name__}"
