"""Codes whose differing bits estimate a distance: thresholds for L1, planes for the angle and for inner products.

N rows, b points, f numbers of each, B bits in words of 64.

Inner products as angles: rows of any length are completed to one length by one more number, and points by 0.

    x -> [x; sqrt(M^2 - |x|^2)]        p -> [p; 0]        M the longest row's length

Completed rows are all of length M, and their inner products with completed points are those of before, so the largest
inner product is the smallest angle (Bachrach et al. 2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from pathformer.index._files import Arrays
from pathformer.index._rows import Floats, Stored, lengths
from pathformer.index.kernels.bf16 import to_float32
from pathformer.index.kernels.hamming import pack, threshold_codes

__all__ = ["Hashes", "Lifted", "Planes", "Thresholds", "Words", "complete", "complete_points"]

Words = npt.NDArray[np.uint64]

_ROWS = 4096  # rows in float32 at once
_SAMPLE = 8192  # rows that a dimension's range is taken from
_TAIL = 0.01  # share of a dimension's values at either end that its range leaves out


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Bit b is [x[dimensions[b]] > thresholds[b]]."""

    dimensions: npt.NDArray[np.int64]  # (B,)
    thresholds: npt.NDArray[np.float32]  # (B,)

    @classmethod
    def draw(cls, rows: Stored, bits: int, seed: int) -> Self:
        """Draws them evenly over the ranges of all dimensions, laid end to end, each from a random start.

        A range leaves out the lowest and the highest hundredth of a dimension's values, where thresholds would tell
        hardly any two rows apart.
        """
        rng = np.random.default_rng(seed)
        low, high = _ranges(rows, rng)
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

    def codes(self, rows: Stored) -> Words:
        """Returns the codes of entities: (N, f) -> (N, B / 64)."""
        return _in_parts(rows, self.codes_of_points, len(self.thresholds) // 64)

    def codes_of_points(self, points: Floats) -> Words:
        """Returns the codes of points: (b, f) -> (b, B / 64)."""
        return threshold_codes(np.ascontiguousarray(points), self.dimensions, self.thresholds)

    def arrays(self) -> Arrays:
        """Returns what is saved."""
        return {"dimensions": self.dimensions, "thresholds": self.thresholds}

    @classmethod
    def open(cls, arrays: Arrays) -> Self:
        """Returns the hashes that `arrays` described."""
        return cls(np.array(arrays["dimensions"]), np.array(arrays["thresholds"]))


def _ranges(rows: Stored, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Returns the low and the high end of each dimension without its tails, from at most 8,192 rows: (2, f)."""
    count = len(rows)
    chosen = rng.choice(count, _SAMPLE, replace=False) if count > _SAMPLE else np.arange(count)
    sample = to_float32(rows[np.sort(chosen)]).astype(np.float64)
    ends: npt.NDArray[np.float64] = np.quantile(sample, (_TAIL, 1.0 - _TAIL), axis=0)
    return ends


def _in_parts(rows: Stored, codes: Callable[[Floats], Words], words: int) -> Words:
    """Returns the codes of stored rows, of which few are widened at once."""
    parts = [codes(to_float32(rows[first : first + _ROWS])) for first in range(0, len(rows), _ROWS)]
    return np.concatenate([np.empty((0, words), np.uint64), *parts])


@dataclass(frozen=True, eq=False)
class Planes:
    """Bit b is [<x, normals[:, b]> > 0]."""

    normals: npt.NDArray[np.float32]  # (d, B)

    @classmethod
    def draw(cls, rows: Stored, bits: int, seed: int) -> Self:
        """Draws normals in every direction alike, in groups of d at right angles to each other.

        Each alone is as random as before, so a bit differs with the same probability, but a group leaves no direction
        out: the number of differing bits scatters less (Ji et al. 2012).
        """
        rng, width = np.random.default_rng(seed), rows.shape[1]
        groups = [_random_rotation(width, rng) for _ in range(-(-bits // width))]
        return cls(np.ascontiguousarray(np.concatenate(groups, axis=1)[:, :bits]))

    def codes(self, rows: Stored) -> Words:
        """Returns the codes of entities: (N, f) -> (N, B / 64)."""
        return _in_parts(rows, self.codes_of_points, self.normals.shape[1] // 64)

    def codes_of_points(self, points: Floats) -> Words:
        """Returns the codes of points: (b, f) -> (b, B / 64)."""
        return pack(points @ self.normals > 0)

    def arrays(self) -> Arrays:
        """Returns what is saved."""
        return {"normals": self.normals}

    @classmethod
    def open(cls, arrays: Arrays) -> Self:
        """Returns the hashes that `arrays` described."""
        return cls(np.array(arrays["normals"]))


def _random_rotation(width: int, rng: np.random.Generator) -> Floats:
    """Returns an orthogonal matrix (f, f), each as likely as any other."""
    rotation, upper = np.linalg.qr(rng.standard_normal((width, width)))
    signed: Floats = (rotation * np.sign(np.diagonal(upper))).astype(np.float32)
    return signed


@dataclass(frozen=True, eq=False)
class Lifted:
    """Planes through completed rows, whose angles follow inner products."""

    planes: Planes  # of d + 1 dimensions
    length: float  # M

    @classmethod
    def draw(cls, rows: Stored, bits: int, seed: int) -> Self:
        """Draws planes as for angles, and takes the longest row's length."""
        return cls(Planes.draw(complete_points(to_float32(rows[:1])), bits, seed), float(lengths(rows).max()))

    def codes(self, rows: Stored) -> Words:
        """Returns the codes of entities: (N, f) -> (N, B / 64)."""
        words = self.planes.normals.shape[1] // 64
        return _in_parts(rows, lambda part: self.planes.codes_of_points(complete(part, self.length)), words)

    def codes_of_points(self, points: Floats) -> Words:
        """Returns the codes of points: (b, f) -> (b, B / 64)."""
        return self.planes.codes_of_points(complete_points(points))

    def arrays(self) -> Arrays:
        """Returns what is saved."""
        return {**self.planes.arrays(), "length": np.array(self.length)}

    @classmethod
    def open(cls, arrays: Arrays) -> Self:
        """Returns the hashes that `arrays` described."""
        return cls(Planes.open(arrays), float(arrays["length"]))


Hashes = Thresholds | Planes | Lifted


def complete(rows: Floats, length: float) -> Floats:
    """Returns entities with their last number, (N, f) -> (N, f + 1); a row that is longer than M = length gets 0."""
    squares = np.square(rows, dtype=np.float64).sum(axis=1)
    rest = np.sqrt(np.maximum(length**2 - squares, 0.0)).astype(np.float32)
    return np.concatenate([rows, rest[:, None]], axis=1)


def complete_points(points: Floats) -> Floats:
    """Returns points with a last 0: (b, f) -> (b, f + 1)."""
    return np.pad(points, ((0, 0), (0, 1)))
