"""The table of links: the probability of every link of a graph.

N entities, B heads, S links, F facts of a relation, M_r(h, t) the probability of the link from h along r to t:

    M_r(h, t) = 1            if (h, r, t) is a fact,
                p(h, r, t)   if the predictor's p is above the threshold,
                0            otherwise.

Relations are directed: the inverse of a relation is another relation. A row (h, r) is made when it is asked for, and
kept until newer rows need its memory; with a threshold only its links are kept. Several threads may ask one table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError
from pathformer.kg.graph import Graph
from pathformer.links.kept_rows import KeptRows, Row

__all__ = ["LinkTable", "Rows", "SparseRows"]

Ids = npt.NDArray[np.integer]
Entities = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Rows = Callable[[Ids, int], Floats]  # heads (B,), a relation -> probabilities (B, N), in an array that may be changed

MEMORY = 256 << 20  # bytes of rows that are kept
BLOCK = 64 << 20  # bytes of whole rows that are made at once


@dataclass(frozen=True, eq=False, slots=True)
class SparseRows:
    """The links of B heads along one relation: those of head i are `[ptr[i] : ptr[i + 1]]`, tails ascending."""

    ptr: npt.NDArray[np.int64]  # (B + 1,)
    tails: Entities  # (S,)
    probabilities: Floats  # (S,) above 0


class LinkTable:
    """The probability of every link: 1 for a fact, the predictor's for any other."""

    def __init__(
        self, facts: Graph, predict: Rows | None = None, *, threshold: float = 0.0, memory: int = MEMORY
    ) -> None:
        """predict: gives the probabilities of rows; without it, facts are the only links. memory: of kept rows."""
        if not 0 <= threshold < 1:
            raise InputError(f"the threshold of the table of links is {threshold}: it must be at least 0 and below 1")
        self.facts, self.predict, self.threshold = facts, predict, threshold
        self.entities = facts.entities
        self.kept = KeptRows(memory)
        self._facts_of: dict[int, tuple[Entities, Entities]] = {}

    @property
    def is_sparse(self) -> bool:
        """Whether most links of a row have probability 0, so that a list of the others is smaller."""
        return self.threshold > 0 or self.predict is None

    def dense(self, heads: Ids, relation: int) -> Floats:
        """Returns M_r(h, t) of heads (B,) and all tails, (B, N), in an array that may be changed."""
        if self.is_sparse:
            return _spread(self.sparse(heads, relation), self.entities)
        found = self.kept.find(relation, heads.tolist())
        missing = [position for position, row in enumerate(found) if row is None]
        if 0 < len(missing) == len(heads) <= self._block:
            return self._make(heads, relation)
        rows = np.empty((len(heads), self.entities), np.float32)
        for position, row in enumerate(found):
            if row is not None:
                rows[position] = row[1]
        for part in self._parts(missing):
            rows[part] = self._make(heads[part], relation)
        return rows

    def sparse(self, heads: Ids, relation: int) -> SparseRows:
        """Returns the links of heads (B,) that have a probability above 0."""
        if self.predict is None:
            return _join([_certain(self.facts.tails_of(head, relation)) for head in heads.tolist()])
        if not self.is_sparse:
            return _pick(self.dense(heads, relation), 0.0)
        found = self.kept.find(relation, heads.tolist())
        missing = [position for position, row in enumerate(found) if row is None]
        for part in self._parts(missing):
            picked = _pick(self._make(heads[part], relation), self.threshold)
            if len(part) == len(heads):
                self._keep(heads, relation, _split(picked))
                return picked
            rows = _split(picked)
            self._keep(heads[part], relation, rows)
            for position, row in zip(part, rows, strict=True):
                found[position] = row
        return _join([row for row in found if row is not None])

    def facts_of(self, relation: int) -> tuple[Entities, Entities]:
        """Returns the heads (F,) and tails (F,) of all facts of a relation."""
        if relation not in self._facts_of:
            ptr, pairs_of = self._pairs
            pairs = pairs_of[ptr[relation] : ptr[relation + 1]]
            starts, ends = self.facts.pair_ptr[pairs], self.facts.pair_ptr[pairs + 1]
            parts = [self.facts.tails[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
            tails = np.concatenate([np.empty(0, np.int32), *parts])
            self._facts_of[relation] = np.repeat(self.facts.heads_of(pairs), ends - starts), tails
        return self._facts_of[relation]

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The (head, relation) pairs of the facts by relation: those of relation r are `[ptr[r] : ptr[r + 1]]`."""
        relation = self.facts.pair_relation
        ptr = np.zeros(self.facts.relations + 1, np.int64)
        np.cumsum(np.bincount(relation, minlength=self.facts.relations), out=ptr[1:])
        return ptr, np.argsort(relation, kind="stable")

    @property
    def _block(self) -> int:
        """How many rows are made at once."""
        return max(1, BLOCK // (4 * self.entities))

    def _parts(self, positions: Sequence[int]) -> Iterator[list[int]]:
        size = self._block
        return (list(positions[first : first + size]) for first in range(0, len(positions), size))

    def _make(self, heads: Ids, relation: int) -> Floats:
        """Returns new whole rows; they are kept if rows are kept whole."""
        assert self.predict is not None
        rows = self.predict(heads, relation)
        if rows.shape != (len(heads), self.entities):
            raise InputError(
                f"the predictor of links gave an array of {rows.shape} for {len(heads)} heads: "
                f"it must give {(len(heads), self.entities)}, one probability for each head and entity"
            )
        low, high = float(rows.min()), float(rows.max())
        if not (low >= 0 and high <= 1):  # nor may it be NaN
            raise InputError(
                f"the predictor of links gave probabilities from {low} to {high} for relation {relation}: "
                "they must lie between 0 and 1"
            )
        for row, head in zip(rows, heads.tolist(), strict=True):
            row[self.facts.tails_of(head, relation)] = 1
        if not self.is_sparse:
            self._keep(heads, relation, [(None, row) for row in rows])
        return rows

    def _keep(self, heads: Ids, relation: int, rows: Sequence[Row]) -> None:
        self.kept.add(relation, heads.tolist(), rows)


def _certain(tails: Entities) -> Row:
    return tails, np.ones(len(tails), np.float32)


def _pick(rows: Floats, threshold: float) -> SparseRows:
    from pathformer.links.kernels.pick import pick

    return SparseRows(*pick(rows, threshold))


def _spread(rows: SparseRows, entities: int) -> Floats:
    out = np.zeros((len(rows.ptr) - 1, entities), np.float32)
    out[np.repeat(np.arange(len(out)), np.diff(rows.ptr)), rows.tails] = rows.probabilities
    return out


def _split(rows: SparseRows) -> list[Row]:
    bounds = pairwise(rows.ptr.tolist())
    return [(rows.tails[first:last], rows.probabilities[first:last]) for first, last in bounds]


def _join(rows: Sequence[Row]) -> SparseRows:
    ptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(values) for _, values in rows], out=ptr[1:])
    tails = [tails for tails, _ in rows if tails is not None]
    values = [values for _, values in rows]
    return SparseRows(
        ptr, np.concatenate([np.empty(0, np.int32), *tails]), np.concatenate([np.empty(0, np.float32), *values])
    )
