"""Sequences of different length without padding: one after the other in the rows of a single tensor.

P sequences, T rows (the sum of their lengths), L tokens of one sequence, d embedding size.

Everything that looks at one token alone (projections, feed-forward, LayerNorm) runs over all T rows at once; only
attention and pooling need to know where a sequence begins. Longest first, so that sequences of one length are
neighbours: `groups` are plain (count, L, d) views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.nn.backend import is_fused

__all__ = ["Group", "Packing", "mean_pool"]


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring sequences of one length, which are rows first : first + count * length."""

    first: int
    count: int
    length: int

    def of(self, rows: Tensor) -> Tensor:
        """Returns the rows (T, ...) of this group as a view (count, length, ...)."""
        part = rows[self.first : self.first + self.count * self.length]
        return part.view(self.count, self.length, *rows.shape[1:])


@dataclass(frozen=True, eq=False)
class Packing:
    """The layout of P sequences in T rows."""

    offsets: Tensor  # (P + 1,) int32; sequence p is rows offsets[p] : offsets[p + 1]
    positions: Tensor  # (T,) int64; the position of a row in its sequence
    groups: tuple[Group, ...]
    classes: tuple[tuple[int, int, int], ...]  # first sequence, number of sequences, tokens up to a power of two
    longest: int

    @classmethod
    def of(cls, lengths: Sequence[int] | npt.NDArray[np.integer], device: torch.device | str = "cpu") -> Packing:
        """Packs sequences of these lengths, in this order; neighbours of equal length share a group."""
        counts = np.asarray(lengths, np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        positions = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        groups, first = [], 0
        for length, run in groupby(counts.tolist()):
            count = len(list(run))
            groups.append(Group(first, count, length))
            first += count * length
        return cls(
            torch.from_numpy(offsets.astype(np.int32)).to(device),
            torch.from_numpy(positions).to(device),
            tuple(groups),
            _classes(counts),
            int(counts.max(initial=0)),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def longer(self, length: int) -> Packing:
        """Returns the packing of the sequences longer than so many tokens; the longest, and their rows, come first."""
        groups = tuple(group for group in self.groups if group.length > length)
        count = sum(group.count for group in groups)
        rows = sum(group.count * group.length for group in groups)
        classes = tuple(
            (first, min(size, count - first), tokens) for first, size, tokens in self.classes if first < count
        )
        return Packing(self.offsets[: count + 1], self.positions[:rows], groups, classes, self.longest if groups else 0)


def _classes(lengths: npt.NDArray[np.int64]) -> tuple[tuple[int, int, int], ...]:
    """Groups neighbours whose lengths round up to the same power of two."""
    classes, first = [], 0
    for tokens, run in groupby(1 << (length - 1).bit_length() for length in lengths.tolist()):
        count = len(list(run))
        classes.append((first, count, tokens))
        first += count
    return tuple(classes)


def mean_pool(rows: Tensor, packing: Packing) -> Tensor:
    """MP of Eq. 3: the mean over each sequence's own tokens. rows (T, d) -> (P, d)."""
    if is_fused(rows):
        from pathformer.nn.kernels.pool import mean_pool as kernel

        return kernel(rows, packing.offsets)
    return torch.cat([group.of(rows).mean(dim=1) for group in packing.groups])
