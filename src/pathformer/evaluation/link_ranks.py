"""Ranks of missing links, by all evidence together and by each source of it alone, from one reading of the evidence.

A link is asked in both directions: (head, relation, ?) and (tail, inverse of the relation, ?), as questions of one hop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import torch

from pathformer.evaluation.ranks import Filters, Ranks, rank_block
from pathformer.kg.graph import Graph
from pathformer.kg.ragged import Ragged, difference
from pathformer.links.mixing import features
from pathformer.links.scorer import LinkScorer
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries

__all__ = ["MIXED", "LinkRanker", "link_questions", "rank_evidence"]

MIXED = "all evidence"
_TOGETHER = 64  # heads of a relation that are scored at once
_FARTHEST = float(np.finfo(np.float32).max)  # the distance of an entity that a source leaves out


def link_questions(links: npt.NDArray[np.integer], known: Graph) -> Queries:
    """Returns the questions of one hop that links (n, 3) answer and a graph does not, in both directions.

    Easy are the tails that the graph states, hard the others.
    """
    keys, tails = _by_question(links, known.relations)
    ids = np.stack(np.divmod(keys, known.relations), axis=1)
    easy = Ragged.of(known.tails_of(head, relation).tolist() for head, relation in ids.tolist())
    hard = difference(tails, easy)
    return Queries(STRUCTURES["1p"], ids.astype(np.int32), easy, hard).take(np.flatnonzero(hard.counts))


def _by_question(links: npt.NDArray[np.integer], relations: int) -> tuple[npt.NDArray[np.int64], Ragged]:
    """Returns a number for each question (head, relation), ascending, and its tails."""
    rows = links.astype(np.int64)
    both = np.concatenate([rows, np.stack([rows[:, 2], rows[:, 1] ^ 1, rows[:, 0]], axis=1)])
    pairs = np.unique(np.stack([both[:, 0] * relations + both[:, 1], both[:, 2]], axis=1), axis=0)
    keys, counts = np.unique(pairs[:, 0], return_counts=True)
    return keys, Ragged(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), pairs[:, 1].astype(np.int32))


def rank_evidence(links: LinkScorer, asked: Queries, advance: Callable[[int], None] | None = None) -> dict[str, Ranks]:
    """Ranks the missing answers of questions of one hop, by all evidence (`MIXED`) and by each source alone.

    The easy answers are no candidates. An entity that a source leaves out is behind all others.
    advance: called with the number of questions after each step.
    """
    return _rank(links, asked, asked.hard, (asked.easy, asked.hard), advance)


class LinkRanker:
    """Ranks by all evidence for single links, as a `Ranker` of questions of one hop."""

    def __init__(self, links: LinkScorer) -> None:
        self.links = links

    def rank(self, queries: Queries, targets: Ragged, filters: Filters) -> Ranks:
        """Ranks `targets` of every query among the entities that no filter holds."""
        return _rank(self.links, queries, targets, filters)[MIXED]


def _rank(
    links: LinkScorer, asked: Queries, targets: Ragged, filters: Filters, advance: Callable[[int], None] | None = None
) -> dict[str, Ranks]:
    count = len(targets.values)
    found = {
        name: Ranks(targets.ptr, np.empty(count, np.int32), np.empty(count, np.int32))
        for name in (MIXED, *links.mixing.sources)
    }
    for relation, rows in _blocks(asked.ids[:, 1]):
        own, barred = targets.take(rows), [part.take(rows) for part in filters]
        answers = np.concatenate([np.arange(targets.ptr[row], targets.ptr[row + 1]) for row in rows])
        known = [asked.easy[row].astype(np.int64) for row in rows]
        for name, distances in _distances(links, asked.ids[rows, 0].astype(np.int64), relation, known):
            ranks = rank_block(torch.from_numpy(distances), own, barred)
            found[name].closer[answers], found[name].tied[answers] = ranks.closer, ranks.tied
        if advance is not None:
            advance(len(rows))
    return found


def _blocks(relations: npt.NDArray[np.integer]) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Yields the rows of each relation, some at a time."""
    for relation in np.unique(relations).tolist():
        rows = np.flatnonzero(relations == relation)
        yield from ((relation, rows[first : first + _TOGETHER]) for first in range(0, len(rows), _TOGETHER))


def _distances(
    links: LinkScorer, heads: npt.NDArray[np.int64], relation: int, known: list[npt.NDArray[np.int64]]
) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    """Yields minus the log of each entity's share, (B, N), by all evidence and by each source."""
    given = features(links.sources, heads, relation, known)
    yield MIXED, _finite(links.mix(given, heads, relation))
    for place, source in enumerate(links.mixing.sources):
        yield source, _finite(np.stack([one.values[:, 2 * place] for one in given]))


def _finite(shares: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.nan_to_num(-shares, posinf=_FARTHEST)
