"""Rows as they are measured: what the measures multiply by, and a table of rows to measure a few entities of.

b points, N entities, f numbers of each, C candidates. Stored rows are float32 or bf16 in uint16 (`kernels.bf16`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pathformer.index._files import Arrays
from pathformer.index.kernels.bf16 import to_bf16, to_float32
from pathformer.plan.measure import Measure

__all__ = ["Floats", "Ids", "Rows", "Stored", "factors_of", "prepare", "to_distances", "to_stored", "unit"]

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Stored = npt.NDArray[Any]
Choose = Callable[[Floats], Ids]  # points (b, f) -> candidates (b, C), -1 for none

_SHORTEST = np.float32(1e-12)  # length: a shorter row is at right angles to all others
_BLOCK = 1 << 14  # rows widened at once


def to_stored(rows: npt.NDArray[Any], like: Stored | None = None) -> Stored:
    """Returns rows in the precision of others, and else in their own: bf16 (uint16), or float32."""
    if like is not None and like.dtype != rows.dtype:
        return to_bf16(to_float32(rows)) if like.dtype == np.uint16 else to_float32(rows)
    return np.ascontiguousarray(rows if rows.dtype == np.uint16 else to_float32(rows))


def lengths(rows: Stored) -> Floats:
    """Returns the Euclidean lengths of rows: (N,)."""
    found = np.empty(len(rows), np.float32)
    for first in range(0, len(rows), _BLOCK):
        found[first : first + _BLOCK] = np.linalg.norm(to_float32(rows[first : first + _BLOCK]), axis=1)
    return found


def unit(rows: Floats) -> Floats:
    """Returns rows divided by their lengths."""
    divided: Floats = np.divide(rows, np.maximum(lengths(rows), _SHORTEST)[:, None], dtype=np.float32)
    return divided


def prepare(points: npt.NDArray[Any], measure: Measure) -> Floats:
    """Returns points as the loops read them: float32, of length one for the cosine."""
    wide = np.ascontiguousarray(points, np.float32)
    return unit(wide) if measure.kind == "cosine" else wide


def factors_of(rows: Stored, measure: Measure) -> Floats | None:
    """Returns what products with each row are multiplied by (N,): 1 / |e| makes cosines of them; None for sums."""
    match measure.kind:
        case "l1":
            return None
        case "inner":
            return np.ones(len(rows), np.float32)
        case "cosine":
            return np.reciprocal(np.maximum(lengths(rows), _SHORTEST), dtype=np.float32)


def to_distances(sums: Floats, measure: Measure) -> Floats:
    """Returns the distances that the loops' sums stand for: L1 norms, or products and cosines times -1."""
    match measure.kind:
        case "l1":
            return sums
        case "inner":
            return sums + np.float32(measure.offset)
        case "cosine":
            return np.float32(measure.scale) * (np.float32(1.0) + sums)


class Rows:
    """A table (N, f) beside an approximate index, to measure the candidates that it chose."""

    def __init__(self, stored: Stored, measure: Measure, factors: Floats | None) -> None:
        self.stored, self._measure, self._factors = stored, measure, factors
        self.width: int = stored.shape[1]

    @classmethod
    def of(cls, rows: Stored, measure: Measure) -> Self:
        """Returns a table of its own memory."""
        return cls(np.array(rows), measure, factors_of(rows, measure))

    @classmethod
    def open(cls, arrays: Arrays, measure: Measure) -> Self:
        """Returns the table that `arrays` described."""
        return cls(arrays["rows"], measure, None if measure.kind == "l1" else arrays["factors"])

    def arrays(self) -> Arrays:
        """Returns what is saved."""
        return {"rows": self.stored} | ({} if self._factors is None else {"factors": self._factors})

    @property
    def row_bytes(self) -> int:
        """The bytes of one entity's row."""
        return self.stored.itemsize * self.width

    def append(self, rows: Stored) -> None:
        """Adds rows, in the precision of those that are there."""
        new = to_stored(rows, self.stored)
        self.stored = np.concatenate([self.stored, new])
        if self._factors is not None:
            more = factors_of(new, self._measure)
            assert more is not None
            self._factors = np.concatenate([self._factors, more])

    def nearest(self, points: Floats, k: int, choose: Choose, at_once: int = 256) -> tuple[Ids, Floats]:
        """Returns the k nearest of the candidates that `choose` names for each point, by true distances."""
        from pathformer.index.kernels.rerank import nearest_of

        ids, sums = np.empty((len(points), k), np.int64), np.empty((len(points), k), np.float32)
        for first in range(0, len(points), at_once):
            part = slice(first, first + at_once)
            candidates = choose(points[part])
            ids[part], sums[part] = nearest_of(points[part], self.stored, candidates, k, self._factors)
        return ids, to_distances(sums, self._measure)
