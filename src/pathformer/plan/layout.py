"""The static half of a plan: which ids and values feed which path and which fork.

It depends on a batch's composition alone (how many queries of which structure), never on ids, so a training step can be
captured once and replayed. Every path and fork writes one *value*, a row of the batch's bank, numbered in the order of
the steps; later steps and the answers' roots point at values by number.

Q queries, I ids, D disjuncts (D >= Q: a union's disjuncts are rows of their own), V values, and within a step
P paths, T tokens, F forks, B branches.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from pathformer.query.structures import Structure

__all__ = ["Block", "EqualPaths", "ForkStep", "Layout", "PathStep", "Step", "Token", "UnionWay"]

Ints = npt.NDArray[np.int64]
UnionWay = Literal["dnf", "native", "demorgan"]
"""How a method takes unions: as points of their own (`to_dnf`), as steps, or as intersections (`to_demorgan`)."""


class Token(IntEnum):
    """The kind of a token of a path, which says what its source points at."""

    ENTITY = 0  # source: position of an entity id in the batch's ids
    RELATION = 1  # source: position of a directed relation id in the batch's ids
    NEGATION = 2  # source: unused, 0
    VARIABLE = 3  # source: number of the value that starts the path


@dataclass(frozen=True, slots=True)
class Block:
    """`count` queries of one structure, side by side; their ids are the rows of a (count, k) table."""

    structure: Structure
    count: int


@dataclass(frozen=True, eq=False, slots=True)
class EqualPaths:
    """n neighbouring paths of a step that have L tokens each."""

    first: int  # number of the value that the first of them writes
    kinds: npt.NDArray[np.int8]  # (n, L) Token
    sources: Ints  # (n, L) see Token

    @property
    def anchored(self) -> bool:
        """Whether the paths start at anchors; otherwise all start at variables."""
        return bool(self.kinds[0, 0] == Token.ENTITY)

    def operators(self, ids: npt.NDArray[np.int32]) -> Ints:
        """Returns the rows of the operators in a table whose last row, -1, is [Negation]: ids (I,) -> (n, L - 1)."""
        return np.where(self.kinds[:, 1:] == Token.NEGATION, -1, ids[self.sources[:, 1:]])


@dataclass(frozen=True, eq=False)
class PathStep:
    """P paths that can be encoded at once, longest first; path p has `lengths[p]` tokens: its start and its operators.

    The paths lie one after the other, so no token is padding.
    """

    first: int  # number of the value that path 0 writes
    lengths: Ints  # (P,) descending, start included
    kinds: npt.NDArray[np.int8]  # (T,) Token
    sources: Ints  # (T,) see Token

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """T: how many tokens there are."""
        return len(self.kinds)

    @cached_property
    def offsets(self) -> Ints:
        """(P + 1,): path p has the tokens offsets[p] : offsets[p + 1]."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths)])

    @cached_property
    def by_length(self) -> tuple[EqualPaths, ...]:
        """The paths of each length, longest first."""
        bounds = [0, *(np.flatnonzero(np.diff(self.lengths)) + 1).tolist(), len(self)]
        groups = []
        for first, last in pairwise(bounds):
            tokens, shape = slice(*self.offsets[[first, last]].tolist()), (last - first, int(self.lengths[first]))
            kinds, sources = self.kinds[tokens].reshape(shape), self.sources[tokens].reshape(shape)
            groups.append(EqualPaths(self.first + first, kinds, sources))
        return tuple(groups)


@dataclass(frozen=True, eq=False)
class ForkStep:
    """F forks that can be computed at once, all intersections or all unions, the ones of most branches first.

    `branches[r]` holds the values of every fork's branch r, for the forks that have one: the first len(branches[r]).
    So a pairwise left fold takes B - 1 rounds over shrinking prefixes, and forks of equal arity are neighbours.
    """

    first: int  # number of the value that fork 0 writes
    branches: tuple[Ints, ...]  # B arrays, each no longer than the one before, the first two of length F
    united: bool = False  # the union of the branches, for a method that has its own

    def __len__(self) -> int:
        return len(self.branches[0])

    @cached_property
    def arities(self) -> Ints:
        """The number of branches of each fork, (F,)."""
        counts = np.zeros(len(self), np.int64)
        for branch in self.branches:
            counts[: len(branch)] += 1
        return counts


Step = PathStep | ForkStep


@dataclass(frozen=True, eq=False)
class Layout:
    """Blocks of queries as steps. Query numbers run through the blocks in order, and so do positions of ids."""

    blocks: tuple[Block, ...]
    steps: tuple[Step, ...]
    roots: Ints  # (D,) the value that stands for each disjunct, disjuncts of a query side by side
    owners: Ints  # (D,) the query that a disjunct belongs to, ascending
    union: UnionWay = "dnf"  # what was done to unions

    @cached_property
    def queries(self) -> int:
        """Q: how many queries there are."""
        return sum(block.count for block in self.blocks)

    @cached_property
    def ids(self) -> int:
        """I: how many ids fill this layout."""
        return sum(block.count * len(block.structure.columns) for block in self.blocks)

    @cached_property
    def values(self) -> int:
        """V: how many values its steps write."""
        return sum(len(step) for step in self.steps)

    @property
    def united(self) -> bool:
        """Whether some query has several disjuncts, of which the smallest distance counts."""
        return len(self.roots) > self.queries

    @cached_property
    def negated(self) -> bool:
        """Whether a step takes a negation; De Morgan's rewrite adds them, the normal form may drop them."""
        return any(bool((step.kinds == Token.NEGATION).any()) for step in self.steps if isinstance(step, PathStep))

    @property
    def native(self) -> bool:
        """Whether a step takes a union."""
        return any(isinstance(step, ForkStep) and step.united for step in self.steps)
