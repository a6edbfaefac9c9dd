"""Entity rows side by side, to measure a few of them: what an approximate index has beside its own structure.

b points, N entities, d dimensions, C candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.index._folder import Arrays
from pathformer.index._measure import Measure
from pathformer.index.kernels.rerank import nearest_of
from pathformer.index.kernels.stored import as_stored, as_tensor

__all__ = ["Rows"]

Choose = Callable[[Tensor], npt.NDArray[np.int64]]  # points (b, d) -> candidates (b, C), -1 for none


class Rows:
    """A table (N, d) as it is compared, and what its inner products are multiplied by, where they are distances."""

    def __init__(self, stored: npt.NDArray[Any], measure: Measure, factors: npt.NDArray[np.float32] | None) -> None:
        self._stored, self._measure, self._factors = stored, measure, factors
        self.width: int = stored.shape[1]

    @classmethod
    def of(cls, vectors: Tensor, measure: Measure) -> Self:
        """Keep rows in bf16 if they are, else in float32."""
        factors = measure.factors(vectors)
        return cls(as_stored(vectors), measure, None if factors is None else factors.cpu().numpy())

    @classmethod
    def open(cls, arrays: Arrays, measure: Measure) -> Self:
        """What `arrays` gave."""
        return cls(arrays["rows"], measure, None if measure.metric == "l1" else arrays["factors"])

    def arrays(self) -> Arrays:
        """What is saved."""
        return {"rows": self._stored} | ({} if self._factors is None else {"factors": self._factors})

    def vectors(self) -> Tensor:
        """All of them (N, d), in memory of their own."""
        return as_tensor(self._stored)

    @property
    def row_bytes(self) -> int:
        """Of one entity."""
        return self._stored.itemsize * self.width

    def append(self, vectors: Tensor, measure: Measure) -> None:
        """More rows, in the precision of those that are there."""
        new = as_stored(vectors.to(torch.bfloat16) if self._stored.dtype == np.uint16 else vectors)
        self._stored = np.concatenate([self._stored, new])
        if self._factors is not None:
            factors = measure.factors(as_tensor(new))
            assert factors is not None
            self._factors = np.concatenate([self._factors, factors.numpy()])

    def nearest(self, points: Tensor, k: int, choose: Choose, at_once: int = 256) -> tuple[Tensor, Tensor]:
        """The k nearest of the candidates that `choose` names for each point, by true distances, nearest first."""
        found = [self._nearest(part, k, choose(part)) for part in points.cpu().split(at_once)]
        if not len(points):
            return torch.empty(0, k, dtype=torch.int64), torch.empty(0, k)
        ids, distances = (torch.from_numpy(np.concatenate(part)) for part in zip(*found, strict=True))
        return ids, self._measure.from_products(distances)

    def _nearest(
        self, points: Tensor, k: int, candidates: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        return nearest_of(points.contiguous().numpy(), self._stored, candidates, k, self._factors)
