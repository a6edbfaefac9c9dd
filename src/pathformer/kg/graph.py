"""A knowledge graph as integers: a two-level CSR, from head to its relations to their tails.

N entities, R directed relations (2k a relation, 2k + 1 its inverse; R is even), P distinct (head, relation) pairs,
E directed edges, both directions of every triple.

    head_ptr (N + 1)  pairs of head h          = head_ptr[h] : head_ptr[h + 1]
    pair_relation (P) relation of a pair, ascending within a head
    pair_ptr (P + 1)  edges of pair p          = pair_ptr[p] : pair_ptr[p + 1]
    tails (E)         tail of an edge, ascending within a pair

Edges into an entity are the inverse edges out of it, so one index serves both directions. A dense (N x R) index would
be faster to look up but stops fitting at 10^6 entities; here a look-up is one binary search in a head's few relations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.kg.keys import distinct, first_of_run, pack, sort

__all__ = ["Graph"]


@dataclass(frozen=True, eq=False, slots=True)
class Graph:
    """The edges of a graph, by head and relation."""

    entities: int  # N
    relations: int  # R, both directions counted
    head_ptr: npt.NDArray[np.int64]
    pair_relation: npt.NDArray[np.int32]
    pair_ptr: npt.NDArray[np.int64]
    tails: npt.NDArray[np.int32]

    @classmethod
    def from_triples(cls, triples: npt.NDArray[np.integer], entities: int, relations: int) -> Graph:
        """Index triples (n, 3) of head, directed relation, tail; the inverse of each is added, repeats are dropped.

        A triple is packed into one 64-bit key, so that sorting numbers does all the work.
        """
        count = len(triples)
        keys = np.empty(2 * count, np.int64)
        pack(triples, entities, relations, keys[:count])
        pack(triples, entities, relations, keys[count:], inverse=True)
        sort(keys[:count])  # often sorted already; two halves and one merge of them are quicker than one sort
        sort(keys[count:])
        keys.sort(kind="stable")
        keys = distinct(keys)
        pairs = keys // entities
        tails = np.empty(len(keys), np.int32)
        np.subtract(keys, pairs * entities, out=tails, casting="unsafe")
        del keys
        starts = np.flatnonzero(first_of_run(pairs))
        pairs = pairs[starts]
        heads = pairs // relations
        head_ptr = np.searchsorted(heads, np.arange(entities + 1))
        return cls(
            entities=entities,
            relations=relations,
            head_ptr=head_ptr.astype(np.int64),
            pair_relation=(pairs - heads * relations).astype(np.int32),
            pair_ptr=np.append(starts, len(tails)).astype(np.int64),
            tails=tails,
        )

    @property
    def edges(self) -> int:
        """E, both directions counted."""
        return len(self.tails)

    def relations_of(self, head: int) -> npt.NDArray[np.int32]:
        """The distinct directed relations that leave `head`, ascending."""
        return self.pair_relation[self.head_ptr[head] : self.head_ptr[head + 1]]

    def tails_of(self, head: int, relation: int) -> npt.NDArray[np.int32]:
        """The tails of (head, relation), ascending; empty when there are none."""
        first, last = int(self.head_ptr[head]), int(self.head_ptr[head + 1])
        pair = first + int(np.searchsorted(self.pair_relation[first:last], relation))
        if pair == last or self.pair_relation[pair] != relation:
            return self.tails[:0]
        return self.tails[self.pair_ptr[pair] : self.pair_ptr[pair + 1]]

    def has(self, head: int, relation: int, tail: int) -> bool:
        """Whether the edge is there."""
        tails = self.tails_of(head, relation)
        position = int(np.searchsorted(tails, tail))
        return position < len(tails) and bool(tails[position] == tail)

    def heads_of(self, pairs: npt.NDArray[np.integer] | None = None) -> npt.NDArray[np.int32]:
        """The heads of these (head, relation) pairs; of all P of them, in order, if none are named."""
        if pairs is None:
            return np.repeat(np.arange(self.entities, dtype=np.int32), np.diff(self.head_ptr))
        return (np.searchsorted(self.head_ptr, pairs, side="right") - 1).astype(np.int32)

    def triples(self) -> npt.NDArray[np.int32]:
        """The forward triples (E / 2, 3): head, even relation, tail, in order."""
        counts = np.diff(self.pair_ptr)
        table = np.stack(
            [np.repeat(self.heads_of(), counts), np.repeat(self.pair_relation, counts), self.tails], axis=1
        )
        forward: npt.NDArray[np.int32] = table[table[:, 1] % 2 == 0]
        return forward
