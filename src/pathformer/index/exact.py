"""Every entity is looked at: the reference that all other backends are measured by, and the default.

b points, k wanted, N entities; f numbers of an entity's row.

On the processor the L1 norm, the cosine and the inner product take one pass over the table that keeps only the best
(`nn.kernels.scan`), so memory is the table's. On a card, and for what a space makes of its entities, distances are
computed in blocks of at most `memory` bytes, and each block's best compete with those before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.index._base import Index, Keep
from pathformer.index._folder import Arrays
from pathformer.index._measure import Measure
from pathformer.index.kernels.scan import BLOCK, lay_out, nearest
from pathformer.index.kernels.stored import as_stored, as_tensor

__all__ = ["INDEX", "Config", "Exact"]

_ROWS = 4096  # entities that a block of distances has room for, if memory allows


@dataclass(frozen=True, kw_only=True)
class Config:
    """Options of `exact`."""

    memory: int = 256 << 20  # bytes of distances, or of a space's intermediate numbers, at once

    def __post_init__(self) -> None:
        if self.memory < 1:
            raise ValueError(f"memory {self.memory} is no room at all")


class Exact(Index):
    """All distances, one way or the other."""

    name: ClassVar[str] = "exact"
    config_type: ClassVar[type[Config]] = Config

    def __init__(self, measure: Measure, config: Config, table: _Blocks | _Dense, alive: Keep) -> None:
        super().__init__(measure, config, table.width, alive)
        self._table = table

    @classmethod
    def _build(cls, rows: Tensor, measure: Measure, config: Config, asked: Tensor | None) -> Self:
        alive = np.ones(len(rows), np.bool_)
        if rows.is_cuda or measure.space is not None:
            return cls(measure, config, _Dense(rows.clone(), measure, config.memory), alive)
        return cls(measure, config, _Blocks.of(rows, measure), alive)

    @classmethod
    def over(cls, rows: Tensor, measure: Measure) -> Self:
        """An index over rows (N, f) as they are compared."""
        return cls._build(rows, measure, Config(), None)

    def _search(self, points: Tensor, k: int, keep: Keep) -> tuple[Tensor, Tensor]:
        ids, distances = self._table.nearest(points, k, keep)
        return ids, self.measure.from_products(distances) if isinstance(self._table, _Blocks) else distances

    def _add(self, rows: Tensor) -> None:
        self._table.append(rows, self.measure)

    def _arrays(self) -> Arrays:
        return self._table.arrays()

    @classmethod
    def _open(cls, arrays: Arrays, measure: Measure, config: Config, device: torch.device) -> Self:
        alive = np.array(arrays["alive"])
        if measure.space is not None:
            return cls(measure, config, _Dense(as_tensor(arrays["rows"]).to(device), measure, config.memory), alive)
        if device.type == "cpu":
            factors = None if measure.metric == "l1" else arrays["factors"]
            return cls(measure, config, _Blocks(arrays["blocks"], len(alive), factors), alive)
        rows = as_tensor(_unblocked(arrays["blocks"], len(alive)))
        return cls(measure, config, _Dense(rows.to(device), measure, config.memory), alive)


class _Blocks:
    """A table laid out for the processor's pass, of L1 or (with factors) of inner products."""

    def __init__(self, blocks: npt.NDArray[Any], count: int, factors: npt.NDArray[np.float32] | None) -> None:
        self._blocks, self._count, self._factors = blocks, count, factors
        self.width = blocks.shape[1]

    @classmethod
    def of(cls, vectors: Tensor, measure: Measure) -> Self:
        return cls(lay_out(as_stored(vectors)), len(vectors), _numbers(measure.factors(vectors)))

    def nearest(self, points: Tensor, k: int, keep: Keep) -> tuple[Tensor, Tensor]:
        ids, distances = nearest(points.cpu().contiguous().numpy(), self._blocks, keep, k, self._factors)
        return torch.from_numpy(ids), torch.from_numpy(distances)

    def append(self, vectors: Tensor, measure: Measure) -> None:
        """Only the last, unfilled block is laid out again."""
        full = self._count // BLOCK
        rest = _unblocked(self._blocks[full:], self._count - full * BLOCK)
        new = as_stored(vectors.to(torch.bfloat16) if rest.dtype == np.uint16 else vectors)
        self._blocks = np.concatenate([self._blocks[:full], lay_out(np.concatenate([rest, new]))])
        self._count += len(vectors)
        if self._factors is not None:
            self._factors = np.concatenate([self._factors, _numbers(measure.factors(as_tensor(new)))])

    def arrays(self) -> Arrays:
        return {"blocks": self._blocks} | ({} if self._factors is None else {"factors": self._factors})


class _Dense:
    """A table on any device, of any measure."""

    def __init__(self, rows: Tensor, measure: Measure, memory: int) -> None:
        self._rows, self._measure, self._memory = rows, measure, memory
        self.width = rows.shape[1]

    def nearest(self, points: Tensor, k: int, keep: Keep) -> tuple[Tensor, Tensor]:
        """Blocks of points against blocks of entities, so that neither number needs to be small."""
        points, kept = points.to(self._rows.device), torch.from_numpy(keep).to(self._rows.device)
        found = [self._best(part, k, kept) for part in points.split(self._points_at_once)]
        ids = torch.cat([ids for ids, _ in found]) if found else torch.empty(0, k, dtype=torch.int64)
        return ids, torch.cat([distances for _, distances in found]) if found else torch.empty(0, k)

    @property
    def _points_at_once(self) -> int:
        return max(1, min(1024, self._memory // (4 * self._numbers * _ROWS)))

    @property
    def _numbers(self) -> int:
        """How many numbers a pair of a point and an entity may cost: a space's own distance keeps all of a row's."""
        return self.width if self._measure.metric == "space" else 1

    def _best(self, points: Tensor, k: int, kept: Tensor) -> tuple[Tensor, Tensor]:
        device = points.device
        ids = torch.full((len(points), k), -1, device=device)
        best = torch.full((len(points), k), torch.inf, device=device)
        step = max(1, self._memory // (4 * self._numbers * len(points)))
        for first in range(0, len(self._rows), step):
            rows = self._rows[first : first + step]
            distances = self._measure.to_all(points, rows).masked_fill(~kept[first : first + step], torch.inf)
            places = torch.arange(first, first + len(rows), device=device).expand(len(points), -1)
            best, order = torch.cat([best, distances], dim=1).topk(k, largest=False)
            ids = torch.cat([ids, places], dim=1).gather(1, order)
        return ids.masked_fill(best.isinf(), -1), best

    def append(self, vectors: Tensor, measure: Measure) -> None:
        self._rows = torch.cat([self._rows, vectors.to(self._rows)])

    def arrays(self) -> Arrays:
        """As the processor's pass wants them, where there is one."""
        if self._measure.space is not None:
            return {"rows": as_stored(self._rows)}
        return _Blocks.of(self._rows, self._measure).arrays()


def _unblocked(blocks: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """The rows (count, e) that `lay_out` was given."""
    return blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])[:count]


def _numbers(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.cpu().numpy()


INDEX = Exact
