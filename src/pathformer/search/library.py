"""The array library that search works with: what it must be able to do, and numpy's way of doing it.

Q questions of one structure, N entities, k heads a question. Everything else that search does to arrays is plain
arithmetic, which array libraries share; another library, on a card say, is one object like `NUMPY`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pathformer.links.table import LinkTable
from pathformer.search.norms import Norm

__all__ = ["NUMPY", "Hop", "Library", "Numpy"]

Array = Any  # of the library
Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

LISTS = 4096  # rows that are taken from the table at once, as lists of links
ROWS = 64 << 20  # bytes of rows that are taken at once, whole


@dataclass(frozen=True, eq=False, slots=True)
class Hop:
    """The beliefs after one hop, and where they came from if that was asked for."""

    beliefs: Array  # (Q, N) max_u both(T(u), M_r(u, v))
    via: Array = None  # (Q, N) the u of the maximum; -1 where the belief is 0
    link: Array = None  # (Q, N) M_r(u, v) of that u


class Library(Protocol):
    """What search needs of an array library."""

    @property
    def xp(self) -> Any:
        """The module of the library: maximum, minimum, clip."""

    def anchors(self, entities: Ids, size: int) -> Array:
        """Returns 1 for the entity of each question and 0 for all others, (Q, size)."""

    def best(self, beliefs: Array, width: int | None) -> tuple[Array, Array]:
        """Returns the (at most `width`) entities of each question with the largest beliefs above 0, and the beliefs.

        Both (Q, k), the largest belief first; where there are fewer than k, entity 0 with belief 0.
        """

    def hop(
        self,
        table: LinkTable,
        join: type[Norm],
        relations: Ids,
        best: tuple[Array, Array],
        *,
        everyone: Array | None = None,
        denied: float | None = None,
        traced: bool = False,
    ) -> Hop:
        """Follows the relation (Q,) of each question from its best entities.

        everyone: the beliefs of all entities, (Q, N), to follow the facts of those as well that are not among the best;
        denied: the scale s of a negated relation, whose links then count 1 - min(1, s M).
        """


class Numpy:
    """Numpy, and compiled loops where numpy would write intermediate arrays."""

    xp: Any = np

    def anchors(self, entities: Ids, size: int) -> Floats:
        """Returns one row of zeros and a one for each question."""
        out = np.zeros((len(entities), size), np.float32)
        out[np.arange(len(entities)), entities] = 1
        return out

    def best(self, beliefs: Floats, width: int | None) -> tuple[Ids, Floats]:
        """Returns the best entities of each question."""
        from pathformer.search.kernels.hops import best

        most = int(np.count_nonzero(beliefs > 0, axis=1).max(initial=0))
        k = most if width is None else min(width, most)
        heads, values = np.zeros((len(beliefs), k), np.int64), np.zeros((len(beliefs), k), np.float32)
        if k:
            best(beliefs, heads, values)
        return heads, values

    def hop(
        self,
        table: LinkTable,
        join: type[Norm],
        relations: Ids,
        best: tuple[Ids, Floats],
        *,
        everyone: Floats | None = None,
        denied: float | None = None,
        traced: bool = False,
    ) -> Hop:
        """Follows one relation after another, for all questions that have it."""
        from pathformer.search.kernels.hops import raise_by_facts, raise_by_lists, raise_by_rows

        (heads, values), (questions, size) = best, (len(relations), table.entities)
        out = np.zeros((questions, size), np.float32)
        via = np.full((questions, size) if traced else (1, 1), -1, np.int32)
        link = np.zeros((questions, size) if traced else (1, 1), np.float32)
        whole = denied is not None or not table.is_sparse  # most of a denied row is 1
        for relation in np.unique(relations).tolist():
            members = np.flatnonzero(relations == relation)
            if everyone is not None and denied is None:
                raise_by_facts(members, everyone, *table.facts_of(relation), traced, out, via, link)
            for wanted, index in _blocks(heads[members], values[members], ROWS // (4 * size) if whole else LISTS):
                if whole:
                    rows = table.dense(wanted, relation)
                    rows = rows if denied is None else 1 - np.minimum(1, np.float32(denied) * rows)
                    raise_by_rows(join.code, members, heads, values, index, rows, traced, out, via, link)
                else:
                    found = table.sparse(wanted, relation)
                    lists = (found.ptr, found.tails, found.probabilities)
                    raise_by_lists(join.code, members, heads, values, index, *lists, traced, out, via, link)
        return Hop(out, via, link) if traced else Hop(out)


def _blocks(heads: Ids, values: Floats, size: int) -> Iterator[tuple[Ids, Ids]]:
    """Yields the distinct heads (G, k) with a belief, `size` at a time, and where each stands among them, or -1."""
    wanted, where = np.unique(heads[values > 0], return_inverse=True)
    index = np.full(heads.shape, -1, np.int64)
    index[values > 0] = where
    size = max(1, size)
    for first in range(0, len(wanted), size):
        inside = (index >= first) & (index < first + size)
        yield wanted[first : first + size], np.where(inside, index - first, -1)


NUMPY = Numpy()
