"""Paths and forks: the paper's "Query Computation Tree Decomposition", Eqs. 1 and 2, for any union-free tree.

A path query is a starting node n_s and set operators l_1 ... l_k, each a relational projection or a negation; that
sequence alone determines it (Eq. 2):

    n_s, l_1, ..., l_k  =>  n_s --l_1--> n_v1 --l_2--> n_v2 ... --l_k--> n_vk

n_s is an anchor entity or a multi-branch variable node. A fork query gives the latter: the intersection of its branch
paths. The decomposition of a tree is a path where its root has one branch and a fork where it has several:

    2p   Path(e, (r1, r2))                             2in  Fork((Path(e1, (r1,)), Path(e2, (r2, NEGATION))))
    ip   Path(Fork((Path(...), Path(...))), (r3,))     a negated fork: Path(Fork(...), (NEGATION,))

The paper has no union here: it lifts them out first (`to_dnf`), others rewrite them (`to_demorgan`). For a method with
a union of its own, `to_paths(tree, unions=True)` keeps each as a fork that is marked as one:

    up   Path(Fork((Path(...), Path(...)), united=True), (r3,))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pathformer.errors import UnsupportedQueryError
from pathformer.query.structures import NEGATION, unchain
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

__all__ = ["NEGATION", "Fork", "Path", "forks", "from_paths", "paths", "to_paths"]


@dataclass(frozen=True, slots=True)
class Path:
    """A path query: where it starts and the operators in order, directed relation ids or NEGATION."""

    start: int | Fork  # n_s: an anchor's entity id, or the fork that gives the variable
    operators: tuple[int, ...]  # l_1 ... l_k; none only where a bare anchor stands as a set of one


@dataclass(frozen=True, slots=True)
class Fork:
    """A fork query: the intersection of two or more branches at one variable node, or their union.

    A branch is a path, or, directly, a fork of the other kind.
    """

    branches: tuple[Path | Fork, ...]
    united: bool = False  # the union of the branches, kept for a method that has one of its own


def to_paths(tree: Tree, *, unions: bool = False) -> Path | Fork:
    """Decompose a tree; an intersection (union) standing directly in another is the same fork.

    unions: keep them, as forks of their own kind; else the tree must hold none.
    """
    start, chain = unchain(tree)
    match start:
        case Anchor(entity):
            return Path(entity, chain)
        case Intersection(branches):
            fork = _fork(branches, False, unions)
        case Union(branches) if unions:
            fork = _fork(branches, True, unions)
        case Union():
            raise UnsupportedQueryError("a union is neither a path nor a fork: rewrite the tree with to_dnf first")
    return Path(fork, chain) if chain else fork


def from_paths(query: Path | Fork) -> Tree:
    """The tree whose decomposition this is: the inverse of `to_paths`, up to forks nested in forks of their kind."""
    if isinstance(query, Fork):
        return (Union if query.united else Intersection)(tuple(map(from_paths, query.branches)))
    tree = Anchor(query.start) if isinstance(query.start, int) else from_paths(query.start)
    for operator in query.operators:
        tree = Negation(tree) if operator == NEGATION else Projection(operator, tree)
    return tree


def paths(query: Path | Fork) -> Iterator[Path]:
    """Every path, in the order in which it can be computed (the paper's Path Query 1, 2, 3): branches come first."""
    for part in _steps(query):
        if isinstance(part, Path):
            yield part


def forks(query: Path | Fork) -> Iterator[Fork]:
    """Every fork, in the order in which it can be computed."""
    for part in _steps(query):
        if isinstance(part, Fork):
            yield part


def _fork(trees: tuple[Tree, ...], united: bool, unions: bool) -> Fork:
    branches: list[Path | Fork] = []
    for query in (to_paths(tree, unions=unions) for tree in trees):
        same = isinstance(query, Fork) and query.united == united
        branches += query.branches if isinstance(query, Fork) and same else (query,)
    return Fork(tuple(branches), united)


def _steps(query: Path | Fork) -> Iterator[Path | Fork]:
    if isinstance(query, Fork):
        for branch in query.branches:
            yield from _steps(branch)
    elif isinstance(query.start, Fork):
        yield from _steps(query.start)
    yield query
