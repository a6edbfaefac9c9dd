"""Filtered ranks of answers among all entities (the rank(e) of Eq. 7, label eq5).

Q queries, R rows (a row is one disjunct's point; R > Q where queries hold unions), N entities, A ranked answers.

An answer is ranked among itself and all entities that are not filtered; by default all easy and hard answers are
filtered, as in the reference code. Two integers describe the rank for any policy on ties: how many unfiltered entities
are nearer, and how many have the same distance; `metrics` computes figures from them.

Memory: one block of distances, rows x N float32 within `memory` bytes (one row at the least), and at most about the
same again for the positions of its answers: a block with more answers than that is ranked in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.errors import DivergedError
from pathformer.kg.ragged import Ragged
from pathformer.models._base import Combine
from pathformer.spaces.kernels.l1_rank import count_below

__all__ = [
    "Filters",
    "Ranks",
    "block_rows",
    "even_blocks",
    "fold_disjuncts",
    "part",
    "rank_block",
    "rank_blocks",
    "take_queries",
]

Filters = Sequence[Ragged]  # for each query, in any number of lists, the entities left out of its ranking

MEMORY = {"cuda": 2 << 30, "cpu": 128 << 20}  # bytes for a block of distances
_CROWD = 8  # distances for each answer that is handled at once: the position of an answer takes 32 bytes in all


@dataclass(frozen=True, eq=False, slots=True)
class Ranks:
    """The ranks of the answers of n queries: row i of every array is `[ptr[i] : ptr[i + 1]]`, answers ascending."""

    ptr: npt.NDArray[np.int64]  # (n + 1,)
    closer: npt.NDArray[np.int32]  # (A,) unfiltered entities at a smaller distance
    tied: npt.NDArray[np.int32]  # (A,) unfiltered entities at the same distance, the answer itself not counted

    def __len__(self) -> int:
        return len(self.ptr) - 1


def rank_blocks(
    distances: Callable[[int, int], Tensor], targets: Ragged, filters: Filters, blocks: Iterable[tuple[int, int]]
) -> Ranks:
    """Ranks targets; `distances` computes the distances (last - first, N) of queries first to last.

    The result is allocated first: parts allocated between blocks would fragment the memory that blocks reuse.
    """
    ranks = Ranks(targets.ptr, *(np.empty(len(targets.values), np.int32) for _ in range(2)))
    for first, last in blocks:
        chosen = [part(rows, first, last) for rows in filters]
        found = rank_block(distances(first, last), part(targets, first, last), chosen, first)
        answers = slice(targets.ptr[first], targets.ptr[last])
        ranks.closer[answers], ranks.tied[answers] = found.closer, found.tied
    return ranks


def take_queries(ranks: Ranks, rows: npt.NDArray[np.integer]) -> Ranks:
    """Returns the ranks of some queries, in the order given."""
    closer, tied = (Ragged(ranks.ptr, values).take(rows) for values in (ranks.closer, ranks.tied))
    return Ranks(closer.ptr, closer.values, tied.values)


def even_blocks(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Cuts `count` queries into ranges of `size`; the last range is shorter."""
    return ((first, min(first + size, count)) for first in range(0, count, size))


def rank_block(distances: Tensor, targets: Ragged, filters: Filters, first: int = 0) -> Ranks:
    """Ranks targets by distances (Q, N), which are overwritten; `first` is added to the row that an error names."""
    ranks = Ranks(targets.ptr, *(np.empty(len(targets.values), np.int32) for _ in range(2)))
    bounds = np.sum([rows.ptr for rows in (targets, *filters)], axis=0)
    for start, stop in _blocks(bounds, distances.numel() // _CROWD):
        chosen = [part(rows, start, stop) for rows in filters]
        found = _counts(distances[start:stop], part(targets, start, stop), chosen, first + start)
        answers = slice(targets.ptr[start], targets.ptr[stop])
        ranks.closer[answers], ranks.tied[answers] = found
    return ranks


def _counts(distances: Tensor, targets: Ragged, filters: Filters, first: int) -> tuple[npt.NDArray[np.int32], ...]:
    """Counts the nearer and the tied entities of every target.

    The distances of the targets are read first; then every filtered entry becomes NaN, which is neither below nor equal
    to any number, so that one comparison counts only unfiltered entities.
    """
    rows, columns = _positions(targets, distances.device)
    filtered = [_positions(rows, distances.device) for rows in filters]  # while the device is busy with the distances
    thresholds = distances[rows, columns]
    if not bool(torch.isfinite(thresholds).all()):
        row = first + int(rows[~torch.isfinite(thresholds)][0])
        raise DivergedError(f"query {row} has an answer at a distance that is not finite: the weights diverged")
    for positions in filtered:
        distances[positions] = torch.nan
    distances[rows, columns] = torch.nan
    return tuple(found.cpu().numpy() for found in count_below(distances, rows, thresholds))


def fold_disjuncts(
    distances: Tensor,
    disjuncts: npt.NDArray[np.integer],
    combine: Combine = "smallest",
    counts: Tensor | None = None,
) -> Tensor:
    """Folds the rows of each query into one distance for each entity: (R, N) -> (Q, N).

    smallest: the smallest of the query's rows, as in the reference code. probability: -log sum_i p_i(e), where
    p_i = exp(-Dist_i) / sum_e exp(-Dist_i) is row i's probability over entities, so that disjuncts of one query are
    measured by the same scale whatever their distances are. A query of one row keeps its distances.

    counts (N,): if these entities are a sample, how many entities each stands for in the sums.
    """
    starts = np.cumsum(disjuncts) - disjuncts
    if len(starts) == len(distances):
        return distances
    if combine == "smallest" and disjuncts.min() == disjuncts.max():  # all queries have as many rows: no copy is needed
        return distances.view(len(starts), -1, distances.shape[1]).amin(dim=1)
    more = torch.zeros((), device=distances.device) if counts is None else counts.log()
    if combine != "smallest":
        distances = distances + torch.logsumexp(more - distances, dim=1, keepdim=True)  # -log p_i
    folded = distances[torch.from_numpy(starts).to(distances.device)]
    for number in range(1, int(disjuncts.max())):
        longer = np.flatnonzero(disjuncts > number)
        query, row = (torch.from_numpy(i).to(distances.device) for i in (longer, starts[longer] + number))
        folded[query] = _fold_two(folded[query], distances[row], combine)
    return folded


def _fold_two(one: Tensor, other: Tensor, combine: Combine) -> Tensor:
    return torch.minimum(one, other) if combine == "smallest" else -torch.logaddexp(-one, -other)


def block_rows(entities: int, device: torch.device, memory: int | None = None) -> int:
    """Returns how many rows of distances fit `memory` bytes; a multiple of 128 if there are as many."""
    rows = (memory or MEMORY.get(device.type, MEMORY["cpu"])) // (4 * entities)
    return max(1, rows if rows < 128 else rows // 128 * 128)


def _blocks(bounds: npt.NDArray[np.int64], limit: int) -> Iterator[tuple[int, int]]:
    """Cuts queries whose answers start at `bounds` into ranges of at most `limit` answers, at least one query each."""
    first = 0
    while first < len(bounds) - 1:
        last = int(np.searchsorted(bounds, bounds[first] + limit, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def part(rows: Ragged, first: int, last: int) -> Ragged:
    """Returns rows first to last, without the last; nothing is copied."""
    start, stop = rows.ptr[first], rows.ptr[last]
    return Ragged(rows.ptr[first : last + 1] - start, rows.values[start:stop])


def _positions(rows: Ragged, device: torch.device) -> tuple[Tensor, Tensor]:
    """Returns the (row, column) of every value."""
    counts = torch.from_numpy(rows.counts).to(device)
    row = torch.repeat_interleave(torch.arange(len(rows), device=device), counts, output_size=len(rows.values))
    return row, torch.from_numpy(rows.values).to(device).long()
