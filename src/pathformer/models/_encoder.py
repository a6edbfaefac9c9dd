"""Trees to points: any trees at once, with the static half of the work kept for the next batch of the same make-up.

D points, q numbers of a query in the space; D is at least the number of trees, since a union may have several.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.compiled import one_thread, share
from pathformer.errors import DivergedError
from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.nn.mlp import Laid
from pathformer.plan.build import build_layout, by_structure
from pathformer.plan.layout import Block
from pathformer.query.tree import Tree

__all__ = ["Encoder", "Points"]

_PART = 32  # trees at least that a thread of its own pays for
_KEPT = 64  # layouts; a service sees few shapes, a batch of many shapes is rarely seen twice


@dataclass(frozen=True, eq=False, slots=True)
class Points:
    """The points of some trees; those of tree i are rows ptr[i] : ptr[i + 1]."""

    rows: Tensor  # (D, q) float32
    ptr: npt.NDArray[np.int64]  # (trees + 1,)

    def of(self, place: int) -> Tensor:
        """The points of one tree."""
        return self.rows[self.ptr[place] : self.ptr[place + 1]]


class Encoder:
    """A model in the service of trees."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.device = model.entities.weight.device
        self._batches: OrderedDict[tuple[Block, ...], Batch] = OrderedDict()
        self._laid, self._lock = Laid(), Lock()

    def points(self, trees: Sequence[Tree]) -> Points:
        """Encode trees, as the method takes unions.

        On a processor each thread encodes a part of many trees alone.
        """
        parts = 1 if self.device.type != "cpu" else max(1, min(torch.get_num_threads(), len(trees) // _PART))
        found: dict[int, Points] = {}

        def work(part: int, first: int, last: int) -> None:
            found[part] = self._points(trees[first:last])

        share(work, len(trees), parts)
        return _joined([found[part] for part in range(parts)])

    def _points(self, trees: Sequence[Tree]) -> Points:
        """The same on this thread."""
        tables = by_structure(trees)
        batch = self._batch(tuple(Block(structure, len(rows)) for structure, rows in tables.items()))
        ids = np.fromiter((i for rows in tables.values() for row in rows.values() for i in row), np.int32)
        with torch.inference_mode(), self._laid.used(), one_thread():
            points = self.model.encode(batch, torch.from_numpy(ids).to(self.device)).float()
        if not bool(torch.isfinite(points).all()):
            raise DivergedError("a question is encoded as numbers that are not finite: the model's weights diverged")
        return _in_order(points, batch.layout.owners, [place for rows in tables.values() for place in rows])

    def _batch(self, blocks: tuple[Block, ...]) -> Batch:
        with self._lock:
            made = self._batches.get(blocks) or Batch.of(build_layout(blocks, self.model.union), self.device)
            self._batches[blocks] = made
            self._batches.move_to_end(blocks)
            if len(self._batches) > _KEPT:
                self._batches.popitem(last=False)
            return made


def _joined(parts: Sequence[Points]) -> Points:
    """The points of neighbouring parts of the trees as those of all."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.rows) for part in parts)])
    ptr = [part.ptr[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Points(torch.cat([part.rows for part in parts]), np.concatenate([*ptr, starts[-1:]]))


def _in_order(points: Tensor, owners: npt.NDArray[np.int64], places: list[int]) -> Points:
    """Points of the layout's queries as those of the trees: query n of the layout is tree places[n]."""
    tree_of = np.asarray(places, np.int64)[owners]
    order = np.argsort(tree_of, kind="stable")
    ptr = np.searchsorted(tree_of[order], np.arange(len(places) + 1))
    if bool((order == np.arange(len(order))).all()):
        return Points(points, ptr)
    return Points(points[torch.from_numpy(order).to(points.device)], ptr)
