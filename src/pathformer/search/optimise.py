"""Tree optimisation: the score of every entity for any queries, and the best assignments behind chosen answers.

N entities, n queries, Q of one structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.compiled import thread_count
from pathformer.links.table import LinkTable
from pathformer.query.structures import Structure, structure_of
from pathformer.query.tree import Tree
from pathformer.search.assignment import Assignment, trace
from pathformer.search.library import NUMPY, Library
from pathformer.search.propagate import Beliefs, propagate
from pathformer.search.settings import SearchSettings

__all__ = ["Optimum", "optimise", "score"]

BLOCK = 8 << 20  # bytes of the beliefs of one node
FEW = 128  # most queries of a block, so that threads have something to share


@dataclass(frozen=True, eq=False, slots=True)
class Optimum:
    """The best assignments of all answers to Q queries of one structure."""

    beliefs: Beliefs  # of the root
    table: LinkTable
    settings: SearchSettings

    @property
    def scores(self) -> Any:
        """The score of every entity, (Q, N)."""
        return self.beliefs.values

    def assignment(self, entity: int, query: int = 0) -> Assignment | None:
        """Returns the best assignment of an answer; None for an entity whose score is 0."""
        return trace(self.beliefs, self.table, self.settings.join, query, entity)


def optimise(
    trees: Sequence[Tree], table: LinkTable, settings: SearchSettings | None = None, library: Library = NUMPY
) -> Optimum:
    """Scores all entities for queries of one structure, and remembers what gave each score."""
    settings = settings or SearchSettings()
    return Optimum(propagate(trees, table, settings, library, traced=True), table, settings)


def score(trees: Sequence[Tree], table: LinkTable, settings: SearchSettings | None = None) -> npt.NDArray[np.float32]:
    """Returns the score of every entity for queries of any structures, (n, N), worked out in blocks on all cores."""
    settings = settings or SearchSettings()
    out = np.empty((len(trees), table.entities), np.float32)

    def work(block: npt.NDArray[np.int64]) -> None:
        out[block] = propagate([trees[number] for number in block], table, settings).values

    blocks = list(_blocks(trees, min(FEW, max(1, BLOCK // (4 * table.entities)))))
    threads = min(thread_count(), len(blocks))
    if threads < 2:
        for block in blocks:
            work(block)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, blocks))
    return out


def _blocks(trees: Sequence[Tree], size: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yields the numbers of at most `size` trees of one structure."""
    groups: dict[Structure, list[int]] = {}
    for number, tree in enumerate(trees):
        groups.setdefault(structure_of(tree), []).append(number)
    for members in groups.values():
        for first in range(0, len(members), size):
            yield np.array(members[first : first + size])
