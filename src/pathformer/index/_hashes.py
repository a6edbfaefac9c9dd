"""Codes whose differing bits estimate a distance: thresholds for L1, planes for the angle and for inner products.

N rows, d dimensions, B bits in words of 64.

Inner products as angles: rows of any length completed to one length by one more number.

b points, N entities, f numbers of each.

    x -> [x; sqrt(M^2 - |x|^2)]        p -> [p; 0]        M the longest row's length

Completed rows are all of length M, and their inner products with completed points are those of before, so the largest
inner product is the smallest angle (Bachrach et al. 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.index._folder import Arrays
from pathformer.index.kernels.hamming import pack, threshold_codes

__all__ = ["Hashes", "Lifted", "Planes", "Thresholds", "completed", "completed_points", "longest"]

_ROWS = 4096  # rows in float32 at once
_SAMPLE = 8192  # rows that a dimension's range is taken from
_TAIL = 0.01  # share of a dimension's values at either end that its range leaves out


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Bit b is [x[dimensions[b]] > thresholds[b]]."""

    dimensions: npt.NDArray[np.int64]  # (B,)
    thresholds: npt.NDArray[np.float32]  # (B,)

    @classmethod
    def drawn(cls, vectors: Tensor, bits: int, seed: int) -> Self:
        """Evenly over the ranges of all dimensions, laid end to end, each from a random start.

        A range leaves out the lowest and the highest hundredth of a dimension's values, where thresholds would tell
        hardly any two rows apart.
        """
        rng = np.random.default_rng(seed)
        low, high = _ranges(vectors, rng)
        step = max((high - low).sum() / bits, np.finfo(np.float32).tiny)
        starts = low + step * rng.random(len(low))
        counts = np.maximum(np.ceil((high - starts) / step), 0).astype(np.int64)
        dimensions = np.repeat(np.arange(len(low)), counts)
        within = np.arange(len(dimensions)) - np.repeat(np.cumsum(counts) - counts, counts)
        thresholds = starts[dimensions] + step * within
        missing = rng.integers(len(low), size=max(0, bits - len(dimensions)))  # the count is B up to chance
        dimensions = np.concatenate([dimensions, missing])
        thresholds = np.concatenate([thresholds, rng.uniform(low[missing], high[missing])])
        order = rng.permutation(len(dimensions))[:bits]
        return cls(dimensions[order], thresholds[order].astype(np.float32))

    def codes(self, rows: Tensor) -> npt.NDArray[np.uint64]:
        """(N, d) -> (N, B / 64)."""
        parts = [
            threshold_codes(part.float().cpu().contiguous().numpy(), self.dimensions, self.thresholds)
            for part in rows.split(_ROWS)
        ]
        return np.concatenate([np.empty((0, len(self.thresholds) // 64), np.uint64), *parts])

    def codes_of_points(self, points: Tensor) -> npt.NDArray[np.uint64]:
        """The same."""
        return self.codes(points)

    def arrays(self) -> Arrays:
        """What is saved."""
        return {"dimensions": self.dimensions, "thresholds": self.thresholds}

    @classmethod
    def open(cls, arrays: Arrays) -> Self:
        """What `arrays` gave."""
        return cls(np.array(arrays["dimensions"]), np.array(arrays["thresholds"]))


def _ranges(vectors: Tensor, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Low and high end of each dimension without its tails, from at most 8,192 rows: (2, d)."""
    count = len(vectors)
    some = rng.choice(count, _SAMPLE, replace=False) if count > _SAMPLE else np.arange(count)
    rows = vectors[torch.from_numpy(np.sort(some)).to(vectors.device)].float().cpu().numpy()
    ends: npt.NDArray[np.float64] = np.quantile(rows.astype(np.float64), (_TAIL, 1.0 - _TAIL), axis=0)
    return ends


@dataclass(frozen=True, eq=False)
class Planes:
    """Bit b is [<x, normals[:, b]> > 0]."""

    normals: npt.NDArray[np.float32]  # (d, B)

    @classmethod
    def drawn(cls, vectors: Tensor, bits: int, seed: int) -> Self:
        """Normals in every direction alike, in groups of d at right angles to each other.

        Each alone is as random as before, so a bit differs with the same probability, but a group leaves no direction
        out: the number of differing bits scatters less (Ji et al. 2012).
        """
        draws, width = torch.Generator().manual_seed(seed), vectors.shape[1]
        groups = [_turned(width, draws) for _ in range(-(-bits // width))]
        return cls(torch.cat(groups, dim=1)[:, :bits].contiguous().numpy())

    def codes(self, rows: Tensor) -> npt.NDArray[np.uint64]:
        """(N, d) -> (N, B / 64)."""
        normals = torch.from_numpy(self.normals)
        parts = [pack((part.float().cpu() @ normals > 0).numpy()) for part in rows.split(_ROWS)]
        return np.concatenate([np.empty((0, self.normals.shape[1] // 64), np.uint64), *parts])

    def codes_of_points(self, points: Tensor) -> npt.NDArray[np.uint64]:
        """The same."""
        return self.codes(points)

    def arrays(self) -> Arrays:
        """What is saved."""
        return {"normals": self.normals}

    @classmethod
    def open(cls, arrays: Arrays) -> Self:
        """What `arrays` gave."""
        return cls(np.array(arrays["normals"]))


def _turned(width: int, draws: torch.Generator) -> Tensor:
    """An orthogonal matrix, each as likely as any other: (d, d)."""
    turn, upper = torch.linalg.qr(torch.randn(width, width, generator=draws, dtype=torch.float64))
    signed: Tensor = turn * upper.diagonal().sign()
    return signed.float()


@dataclass(frozen=True, eq=False)
class Lifted:
    """Planes through completed rows, whose angles follow inner products (`_completed`)."""

    planes: Planes  # of d + 1 dimensions
    length: float  # M

    @classmethod
    def drawn(cls, vectors: Tensor, bits: int, seed: int) -> Self:
        """Planes as they are drawn for angles, and the longest row's length."""
        return cls(Planes.drawn(completed_points(vectors[:1]), bits, seed), longest(vectors))

    def codes(self, rows: Tensor) -> npt.NDArray[np.uint64]:
        """Of entities: (N, d) -> (N, B / 64)."""
        parts = [self.planes.codes(completed(part.cpu(), self.length)) for part in rows.split(_ROWS)]
        return np.concatenate([np.empty((0, self.planes.normals.shape[1] // 64), np.uint64), *parts])

    def codes_of_points(self, points: Tensor) -> npt.NDArray[np.uint64]:
        """Of points: (b, d) -> (b, B / 64)."""
        return self.planes.codes(completed_points(points))

    def arrays(self) -> Arrays:
        """What is saved."""
        return {**self.planes.arrays(), "length": np.array(self.length)}

    @classmethod
    def open(cls, arrays: Arrays) -> Self:
        """What `arrays` gave."""
        return cls(Planes.open(arrays), float(arrays["length"]))


Hashes = Thresholds | Planes | Lifted


_SAMPLED_ROWS = 4096  # in float32 at once


def longest(rows: Tensor) -> float:
    """M of rows (N, f)."""
    return max(float(part.float().norm(dim=1).max()) for part in rows.split(_SAMPLED_ROWS))


def completed(rows: Tensor, length: float) -> Tensor:
    """(N, f) -> (N, f + 1) float32; a row that is longer than M = length gets 0."""
    wide = rows.float()
    rest = (length**2 - wide.double().square().sum(dim=1)).clamp_min(0.0).sqrt()
    return torch.cat([wide, rest[:, None].to(wide)], dim=1)


def completed_points(points: Tensor) -> Tensor:
    """(b, f) -> (b, f + 1) float32."""
    return F.pad(points.float(), (0, 1))
