"""Training queries on a device: drawn there, with answers and non-answers, without Python for each query.

S structures, n queries of one, k ids of one query, B queries a batch, u negatives, N entities.

All tables of ids lie in one vector, all answers in one CSR, so a batch of any composition is a few gathers. Negatives
are exact: with a answers, the r-th non-answer, r uniform in 0 .. N - a - 1, is r + j for the smallest j such that
answers[j] - j > r, a binary search in the sorted answers. Nothing is drawn twice and nothing rejected.

What a negation takes away (`querysets.removed_by_negation`) is kept where queries bring it: at most R entities a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.nn.draw_candidates import draw_candidates
from pathformer.plan.build import build_layout
from pathformer.plan.layout import Block, Layout, UnionWay
from pathformer.query.structures import Structure
from pathformer.querysets.queries import Queries

__all__ = ["Drawer", "Drawn", "TrainingSet"]


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Queries of several structures with their train answers."""

    structures: tuple[Structure, ...]
    counts: tuple[int, ...]  # n of each structure
    entities: int  # N
    ids: Tensor  # (sum n k,) int32, the tables row by row
    bounds: Tensor  # (sum n + 1,) int64; answers of query i are answers[bounds[i] : bounds[i + 1]]
    answers: Tensor  # int32, ascending within a query; there may be room after the last
    rooms: tuple[int, ...]  # answers that each structure may have in all when it is refilled
    removed: Tensor | None = None  # (1 + sum n of negated, R) int32, -1 where there are fewer; row 0 has none

    @classmethod
    def of(
        cls,
        queries: Sequence[Queries],
        entities: int,
        device: torch.device | str = "cpu",
        room: float = 0.0,
        removed: int = 0,
    ) -> TrainingSet:
        """Puts queries on a device; their `easy` answers are the ones to learn, and each query needs one.

        room: for so many more answers, as a share of those there are, so that other queries can take their place.
        removed: R; then every query with a negation brings what it takes away.
        """
        for part in queries:
            _check(part)
        counts = [len(part) for part in queries]
        totals = [int(part.easy.counts.sum()) for part in queries]
        rooms = [total + int(room * total) for total in totals]
        flat = _flat(queries)
        answers = np.zeros(sum(rooms), np.int32)
        answers[: sum(totals)] = flat[2]
        tensors = [torch.from_numpy(values).to(device) for values in (*flat[:2], answers)]
        structures = tuple(part.structure for part in queries)
        taken = torch.from_numpy(_list_removed(queries, removed)).to(device) if removed else None
        return cls(structures, tuple(counts), entities, tensors[0], tensors[1], tensors[2], tuple(rooms), taken)

    def refill(self, queries: Sequence[Queries]) -> None:
        """Puts other queries of the same structures in place, where a captured update finds them.

        Where there are fewer, they are repeated; where they have more answers in all than there is room for, the ones
        with most answers are replaced by one with fewest.
        """
        fitted = []
        for part, structure, count, room in zip(queries, self.structures, self.counts, self.rooms, strict=True):
            if part.structure != structure:
                raise ValueError(f"queries of {part.structure} in the place of {structure}")
            _check(part)
            fitted.append(part.take(_fitting(part.easy.counts, count, room)))
        ids, bounds, answers = map(torch.from_numpy, _flat(fitted))
        self.ids.copy_(ids)
        self.bounds.copy_(bounds)
        self.answers[: len(answers)].copy_(answers)
        if self.removed is not None:
            self.removed.copy_(torch.from_numpy(_list_removed(fitted, self.removed.shape[1])))

    def __len__(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A batch: ids that fill its layout, for each query an answer followed by u non-answers, and K answers if asked."""

    ids: Tensor  # (I,) int32
    candidates: Tensor  # (B, 1 + u) int32
    answers: Tensor  # (B,) int64, how many train answers each query has
    targets: Tensor | None = None  # (B, K) int64, answers; where there are fewer, any id
    shares: Tensor | None = None  # (B, K) float32, what each counts: alike, 1 in all, 0 where there are fewer
    removed: Tensor | None = None  # (B, R) int64, what negations take away; where there is less, -1


class Drawer:
    """Draws batches of one composition, uniformly and with replacement."""

    def __init__(
        self,
        data: TrainingSet,
        composition: Mapping[str, int],
        *,
        negatives: int = 128,
        filtered: bool = True,
        targets: int = 0,
        union: UnionWay = "dnf",
    ) -> None:
        """composition: queries a batch of each structure, by name; filtered: negatives are never answers.

        union: how the model takes unions.
        """
        positions = {structure.name: position for position, structure in enumerate(data.structures)}
        missing = [name for name in composition if name not in positions]
        if missing:
            raise ValueError(f"no training queries of {', '.join(missing)}; there are: {', '.join(positions)}")
        self.data, self.negatives, self.filtered = data, negatives, filtered
        self._window = torch.arange(targets, device=data.ids.device) if targets else None  # (K,)
        chosen = [positions[name] for name in composition]
        self.layout: Layout = build_layout(
            [
                Block(data.structures[position], size)
                for position, size in zip(chosen, composition.values(), strict=True)
            ],
            union,
        )
        self._index(chosen)

    def _index(self, chosen: Sequence[int]) -> None:
        """Notes for each query of a batch where its structure's queries begin, and for each id its query and column."""
        data, device = self.data, self.data.ids.device
        widths = [len(structure.columns) for structure in data.structures]
        first_query = np.cumsum([0, *data.counts])
        first_id = np.cumsum([0, *(n * k for n, k in zip(data.counts, widths, strict=True))])
        sizes = [block.count for block in self.layout.blocks]

        def spread(values: Sequence[int]) -> Tensor:
            return torch.from_numpy(np.repeat(np.asarray(values, np.int64), sizes)).to(device)

        self._counts = spread([data.counts[position] for position in chosen])  # (B,)
        self._first_query = spread([int(first_query[position]) for position in chosen])  # (B,)
        self._first_id = spread([int(first_id[position]) for position in chosen])  # (B,)
        self._widths = spread([widths[position] for position in chosen])  # (B,)
        first_removed, negated = _removed_rows(data.structures, data.counts)
        self._first_removed = spread([int(first_removed[position]) for position in chosen])  # (B,)
        self._negated = spread([int(negated[position]) for position in chosen])  # (B,) 0 or 1
        per_query = np.repeat([widths[position] for position in chosen], sizes)
        owner = np.repeat(np.arange(len(per_query)), per_query)
        begin = np.concatenate([np.zeros(1, np.int64), np.cumsum(per_query)])
        self._owner = torch.from_numpy(owner).to(device)  # (I,)
        self._column = torch.from_numpy(np.arange(len(owner)) - begin[owner]).to(device)  # (I,)

    def draw(self) -> Drawn:
        """Draws a batch with torch's generator of the device."""
        queries = len(self._counts)
        chance = torch.randint(2**62, (queries, 2 + self.negatives), device=self.data.ids.device)
        row = chance[:, 0] % self._counts  # (B,) within its structure
        begin = self._first_id + row * self._widths
        ids = self.data.ids.index_select(0, begin.index_select(0, self._owner) + self._column)
        candidates, answers = draw_candidates(
            chance[:, 1:],
            self._first_query + row,
            self.data.bounds,
            self.data.answers,
            self.data.entities,
            self.filtered,
        )
        targets: tuple[Tensor | None, Tensor | None] = (None, None)
        if self._window is not None:
            targets = self._targets(self._first_query + row, answers, chance[:, 1])
        return Drawn(ids, candidates, answers, *targets, self._look_up_removed(row))

    def _look_up_removed(self, row: Tensor) -> Tensor | None:
        """Looks up what the negations of the drawn queries remove, (B, R); queries without one have row 0."""
        if self.data.removed is None:
            return None
        return self.data.removed.index_select(0, self._first_removed + row * self._negated).long()

    def _targets(self, queries: Tensor, counts: Tensor, chance: Tensor) -> tuple[Tensor, Tensor]:
        """Returns all answers of each query, or K neighbouring ones from a random position on, cyclically."""
        assert self._window is not None
        position = (self._window + (chance % counts)[:, None]) % counts[:, None]  # (B, K)
        found = self.data.answers[self.data.bounds.index_select(0, queries)[:, None] + position].long()
        shares = (self._window < counts[:, None]) / counts.clamp(max=len(self._window))[:, None]
        return found, shares.float()


def _check(part: Queries) -> None:
    lacking = int((part.easy.counts == 0).sum())
    if lacking:
        raise ValueError(f"{lacking:,} of {len(part):,} training queries of {part.structure} have no answer")
    if not len(part):
        raise ValueError(f"there are no training queries of {part.structure}")


def _flat(queries: Sequence[Queries]) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Returns ids, bounds and answers of all queries, each in one array."""
    ids = np.concatenate([part.ids.reshape(-1) for part in queries]).astype(np.int32, copy=False)
    sizes = np.concatenate([np.zeros(1, np.int64), *(part.easy.counts for part in queries)])
    answers = np.concatenate([part.easy.values[part.easy.ptr[0] : part.easy.ptr[-1]] for part in queries])
    return ids, np.cumsum(sizes), answers.astype(np.int32, copy=False)


def _removed_rows(structures: Sequence[Structure], counts: Sequence[int]) -> tuple[npt.NDArray[np.int64], list[bool]]:
    """Returns the first row of each structure in the table of removed answers; 0 for those without a negation."""
    negated = [structure.negated for structure in structures]
    sizes = [count if there else 0 for count, there in zip(counts, negated, strict=True)]
    first = 1 + np.cumsum([0, *sizes])[:-1]
    return np.where(negated, first, 0), negated


def _list_removed(queries: Sequence[Queries], most: int) -> npt.NDArray[np.int32]:
    """Lists what each negation removes, at most so many, evenly spread; the first row is empty. -> (1 + n, R)."""
    tables = [np.full((1, most), -1, np.int32)]
    for part in queries:
        if part.structure.negated:
            if part.removed is None:
                raise ValueError(f"training queries of {part.structure} do not say what their negations take away")
            counts, column = part.removed.counts[:, None], np.arange(most)
            position = part.removed.ptr[:-1, None] + np.where(counts > most, column * counts // most, column)
            values = np.append(part.removed.values, np.int32(-1))  # what lies behind the last is never asked for
            tables.append(np.where(column < counts, values[np.minimum(position, len(values) - 1)], np.int32(-1)))
    return np.concatenate(tables)


def _fitting(sizes: npt.NDArray[np.int64], count: int, room: int) -> npt.NDArray[np.int64]:
    """Chooses `count` rows whose sizes sum to at most `room`."""
    rows = np.arange(count) % len(sizes)
    order = np.argsort(sizes[rows], kind="stable")[::-1]  # largest first
    least = int(np.argmin(sizes))
    spared = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[rows][order] - sizes[least])])
    rows[order[: int(np.searchsorted(spared, sizes[rows].sum() - room))]] = least
    return rows
