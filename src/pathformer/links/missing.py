"""The missing links of relations: what the graph does not state and the evidence speaks for, over many heads.

N entities, B heads, T tails, n links. A probability belongs to a head and a tail among all entities: it is the same
whatever tails are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.links.calibration import Predictions
from pathformer.links.evidence._base import Ids
from pathformer.links.scorer import LinkScorer

__all__ = ["MissingLinks", "Pairs", "find_missing", "score_pairs"]

Floats = npt.NDArray[np.float64]

_FIRST, _MORE = 64, 8  # tails of a head that are looked at first, and how many times as many each time after


@dataclass(frozen=True, eq=False, slots=True)
class MissingLinks:
    """Links that the graph does not state."""

    head: npt.NDArray[np.int32]  # (n,)
    relation: npt.NDArray[np.int32]  # (n,) directed
    tail: npt.NDArray[np.int32]  # (n,)
    probability: Floats  # (n,) of a list over all heads
    if_missing: Floats  # (n,) the probability if the head misses a tail
    order: Floats  # (n,) tells links of one probability apart: larger is likelier

    def __len__(self) -> int:
        return len(self.head)

    @classmethod
    def none(cls) -> MissingLinks:
        """Returns no links."""
        ids, numbers = np.zeros(0, np.int32), np.zeros(0)
        return cls(ids, ids, ids, numbers, numbers, numbers)

    @classmethod
    def join(cls, parts: Sequence[MissingLinks]) -> MissingLinks:
        """Puts links one after the other."""
        columns = [np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)]
        return cls(*columns)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the columns by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def take(self, chosen: slice | Ids) -> MissingLinks:
        """Returns some of the links."""
        return MissingLinks(*(column[chosen] for column in self.arrays().values()))

    def ranked(self, top: int | None = None) -> MissingLinks:
        """Returns the likeliest links, best first; equal ones by relation, head and tail."""
        keys = (self.tail, self.head, self.relation, -self.order, -self.probability)
        return self.take(np.lexsort(keys)[:top])


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """The scores of all pairs of some heads and some tails."""

    score: npt.NDArray[np.float32]  # (B, T) log of the tail's share; NaN where the graph states the link
    probability: npt.NDArray[np.float32]  # (B, T) of a list over all heads; 1 where the graph states the link
    known: npt.NDArray[np.bool_]  # (B, T) whether the graph states the link


def find_missing(
    links: LinkScorer,
    relation: int,
    heads: Ids,
    tails: npt.NDArray[np.bool_],
    *,
    least: float = 0.0,
    top: int | None = None,
    itself: bool = True,
) -> MissingLinks:
    """Returns the missing links of some heads with at least the probability `least`, of each head at least its `top`.

    tails (N,): which entities may be tails; itself: whether a link may lead from an entity to itself.
    """
    found = [MissingLinks.none()]
    for head, row in zip(heads.tolist(), links.shares(heads, relation), strict=True):
        known, count = len(links.graph.tails_of(head, relation)), int(np.isfinite(row).sum())
        depth = min(_FIRST, count)
        while True:
            best = _best(row, depth)
            given = Predictions.of(relation, row[best], known)
            likely = links.listing.probabilities(given)
            keep = (likely >= least) & tails[best] & (itself | (best != head))
            if depth == count or likely[-1] < least or (top is not None and keep.sum() >= top):
                break
            depth = min(_MORE * depth, count)
        if keep.any():
            if_missing, order = links.calibration.probabilities(given), links.listing.logits(given)
            tail = best[keep].astype(np.int32)
            own, same = np.full(len(tail), head, np.int32), np.full(len(tail), relation, np.int32)
            found.append(MissingLinks(own, same, tail, likely[keep], if_missing[keep], order[keep]))
    return MissingLinks.join(found)


def score_pairs(links: LinkScorer, relation: int, heads: Ids, tails: Ids) -> Pairs:
    """Returns the scores of every pair of some heads (B,) and some tails (T,)."""
    rows = links.shares(heads, relation)
    score = rows[:, tails]
    probability = np.ones(score.shape, np.float32)
    known = np.zeros(score.shape, np.bool_)
    for number, (head, row) in enumerate(zip(heads.tolist(), rows, strict=True)):
        stated = links.graph.tails_of(head, relation)
        best = _best(row, int(np.isfinite(row).sum()))
        likely = np.zeros(len(row), np.float32)
        likely[best] = links.listing.probabilities(Predictions.of(relation, row[best], len(stated)))
        likely[stated] = 1
        probability[number], known[number] = likely[tails], np.isin(tails, stated)
    score[known] = np.nan
    return Pairs(score, probability, known)


def _best(row: npt.NDArray[np.float32], depth: int) -> Ids:
    """Returns the positions of the largest entries of a row, the largest first; equal ones by position."""
    if not depth:
        return np.zeros(0, np.int64)
    border = np.partition(row, len(row) - depth)[len(row) - depth]
    chosen = np.flatnonzero(row >= border)
    return chosen[np.argsort(-row[chosen], kind="stable")][:depth]
