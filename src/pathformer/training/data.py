"""Training queries on a device: drawn, paired with answers and with non-answers there, without Python per query.

S structures, n queries of one, k ids of one query, B queries a batch, u negatives, N entities.

All tables of ids lie in one vector, all answers in one CSR, so a batch of any composition is a few gathers. Negatives
are exact: with a answers, the r-th non-answer, r uniform in 0 .. N - a - 1, is r + j for the smallest j such that
answers[j] - j > r, a binary search in the sorted answers. Nothing is drawn twice and nothing rejected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pathformer.nn.draw import draw_candidates
from pathformer.plan import Block, Layout, UnionWay, build_layout
from pathformer.query.structures import Structure
from pathformer.symbolic.queries import Queries

__all__ = ["Drawer", "Drawn", "TrainingSet"]


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Queries of several structures with their train answers."""

    structures: tuple[Structure, ...]
    counts: tuple[int, ...]  # n of each structure
    entities: int  # N
    ids: Tensor  # (sum n k,) int32, the tables row by row
    bounds: Tensor  # (sum n + 1,) int64; answers of query i are answers[bounds[i] : bounds[i + 1]]
    answers: Tensor  # int32, ascending within a query

    @classmethod
    def of(cls, queries: Sequence[Queries], entities: int, device: torch.device | str = "cpu") -> TrainingSet:
        """Put queries on a device; their `easy` answers are the ones to learn, and each query needs one."""
        for part in queries:
            lacking = int((part.easy.counts == 0).sum())
            if lacking:
                raise ValueError(f"{lacking:,} of {len(part):,} training queries of {part.structure} have no answer")
            if not len(part):
                raise ValueError(f"there are no training queries of {part.structure}")
        sizes = np.concatenate([part.easy.counts for part in queries])
        return cls(
            tuple(part.structure for part in queries),
            tuple(len(part) for part in queries),
            entities,
            _tensor([part.ids.reshape(-1) for part in queries], np.int32, device),
            torch.from_numpy(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])).to(device),
            _tensor([part.easy.values[part.easy.ptr[0] : part.easy.ptr[-1]] for part in queries], np.int32, device),
        )

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
        places = {structure.name: place for place, structure in enumerate(data.structures)}
        missing = [name for name in composition if name not in places]
        if missing:
            raise ValueError(f"no training queries of {', '.join(missing)}; there are: {', '.join(places)}")
        self.data, self.negatives, self.filtered = data, negatives, filtered
        self._window = torch.arange(targets, device=data.ids.device) if targets else None  # (K,)
        chosen = [places[name] for name in composition]
        self.layout: Layout = build_layout(
            [Block(data.structures[place], size) for place, size in zip(chosen, composition.values(), strict=True)],
            union,
        )
        self._index(chosen)

    def _index(self, chosen: Sequence[int]) -> None:
        """For each query of a batch where its structure's queries begin; for each id the query and the column."""
        data, device = self.data, self.data.ids.device
        widths = [len(structure.columns) for structure in data.structures]
        first_query = np.cumsum([0, *data.counts])
        first_id = np.cumsum([0, *(n * k for n, k in zip(data.counts, widths, strict=True))])
        sizes = [block.count for block in self.layout.blocks]

        def spread(values: Sequence[int]) -> Tensor:
            return torch.from_numpy(np.repeat(np.asarray(values, np.int64), sizes)).to(device)

        self._counts = spread([data.counts[place] for place in chosen])  # (B,)
        self._first_query = spread([int(first_query[place]) for place in chosen])  # (B,)
        self._first_id = spread([int(first_id[place]) for place in chosen])  # (B,)
        self._widths = spread([widths[place] for place in chosen])  # (B,)
        per_query = np.repeat([widths[place] for place in chosen], sizes)
        owner = np.repeat(np.arange(len(per_query)), per_query)
        begin = np.concatenate([np.zeros(1, np.int64), np.cumsum(per_query)])
        self._owner = torch.from_numpy(owner).to(device)  # (I,)
        self._column = torch.from_numpy(np.arange(len(owner)) - begin[owner]).to(device)  # (I,)

    def draw(self) -> Drawn:
        """A fresh batch, from torch's generator of the device."""
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
        if self._window is None:
            return Drawn(ids, candidates, answers)
        return Drawn(ids, candidates, answers, *self._targets(self._first_query + row, answers, chance[:, 1]))

    def _targets(self, queries: Tensor, counts: Tensor, chance: Tensor) -> tuple[Tensor, Tensor]:
        """All answers of each query, or K neighbouring ones from a random place on, the first following the last."""
        assert self._window is not None
        place = (self._window + (chance % counts)[:, None]) % counts[:, None]  # (B, K)
        found = self.data.answers[self.data.bounds.index_select(0, queries)[:, None] + place].long()
        shares = (self._window < counts[:, None]) / counts.clamp(max=len(self._window))[:, None]
        return found, shares.float()


def _tensor(parts: Sequence[np.ndarray], dtype: type, device: torch.device | str) -> Tensor:
    return torch.from_numpy(np.concatenate(parts).astype(dtype, copy=False)).to(device)
