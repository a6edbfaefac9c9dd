"""Paths and forks: the paper's "Query Computation Tree Decomposition", Eqs. 1 and 2, for any union-free tree.

A path query is a starting node n_s and set operators l_1 ... l_k, each a relational projection or a negation; that
sequence alone determines it (Eq. 2):

    n_s, l_1, ..., l_k  =>  n_s --l_1--> n_v1 --l_2--> n_v2 ... --l_k--> n_vk

n_s is an anchor entity or a multi-branch variable node. A fork query gives the latter: the intersection of its branch
paths. The decomposition of a tree is a path where its root has one branch and a fork where it has several:

    2p   Path(e, (r1, r2))                             2in  Fork((Path(e1, (r1,)), Path(e2, (r2, NEGATION))))
    ip   Path(Fork((Path(...), Path(...))), (r3,))     a negated fork: Path(Fork(...), (NEGATION,))

Unions are not here: the paper lifts them out first (`to_dnf`), other methods have their own (`to_demorgan`, native).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pathformer.errors import UnsupportedQueryError
from pathformer.query.computation import Anchor, Intersection, Negation, Projection, Tree, Union
from pathformer.query.structures import NEGATION, unchain

__all__ = ["NEGATION", "Fork", "Path", "forks", "from_paths", "paths", "to_paths"]


@dataclass(frozen=True, slots=True)
class Path:
    """A path query: where it starts and the operators in order, directed relation ids or NEGATION."""

    start: int | Fork  # n_s: an anchor's entity id, or the fork that gives the variable
    operators: tuple[int, ...]  # l_1 ... l_k; none only where a bare anchor stands as a set of one


@dataclass(frozen=True, slots=True)
class Fork:
    """A fork query: the intersection of two or more branch paths at one variable node."""

    branches: tuple[Path, ...]


def to_paths(tree: Tree) -> Path | Fork:
    """Decompose a union-free tree; an intersection standing directly in another is the same fork."""
    start, chain = unchain(tree)
    match start:
        case Anchor(entity):
            return Path(entity, chain)
        case Intersection(branches):
            fork = Fork(tuple(path for branch in branches for path in _branch(branch)))
            return Path(fork, chain) if chain else fork
        case Union():
            raise UnsupportedQueryError("a union is neither a path nor a fork: rewrite the tree with to_dnf first")


def from_paths(query: Path | Fork) -> Tree:
    """The tree whose decomposition this is: the inverse of `to_paths`, up to intersections nested in intersections."""
    if isinstance(query, Fork):
        return Intersection(tuple(map(from_paths, query.branches)))
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


def _branch(tree: Tree) -> tuple[Path, ...]:
    query = to_paths(tree)
    return query.branches if isinstance(query, Fork) else (query,)


def _steps(query: Path | Fork) -> Iterator[Path | Fork]:
    if isinstance(query, Fork):
        for branch in query.branches:
            yield from _steps(branch)
    elif isinstance(query.start, Fork):
        yield from _steps(query.start)
    yield query
