"""The torch side of the joint: a model as an encoder of trees, and its weights on disk.

D points, N entities, n of them, e numbers of an entity's row, f numbers of a row as it is measured.

The static half of the work on a batch is kept for the next batch of the same make-up.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from pathformer.compiled import one_thread, thread_count
from pathformer.encoders.numpy import NumpyEncoder
from pathformer.errors import EngineError
from pathformer.files.tensors import Checkpoint, read, unmap, write
from pathformer.models._base import Model, build
from pathformer.models._batch import Batch
from pathformer.models._forms import pack, unpack
from pathformer.nn.device import choose_device
from pathformer.nn.mlp import Laid
from pathformer.plan.build import build_layout, by_structure
from pathformer.plan.encoder import FULL, WEIGHTS, Combine, Encoder, Points
from pathformer.plan.layout import Block, UnionWay
from pathformer.plan.measure import Measure
from pathformer.query.structures import structure_of
from pathformer.query.tree import Tree

__all__ = ["ENCODER", "TorchEncoder", "model_of"]

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

_DRAWS = frozenset({"uniform_", "normal_", "trunc_normal_", "kaiming_uniform_", "kaiming_normal_"})  # fill at random
_KEPT = 64  # layouts; a service sees few shapes, a batch of many shapes is rarely seen twice
_NUMBERS = 1 << 26  # distances, or a space's intermediate numbers, at once
_ROWS = 4096  # entities that a block of distances has room for, if memory allows


class TorchEncoder(Encoder):
    """A model in the service of trees."""

    kind: ClassVar[str] = "torch"

    def __init__(self, model: Model, form: str = FULL) -> None:
        """form: in which the weights are kept on disk (`_forms`); here they are wide in any form."""
        self.model, self.form = model.eval(), form
        self.device = model.entities.weight.device
        self.name, self.settings = model.name, asdict(model.config)
        self.entity_count = model.entity_count
        self.width = model.space.measured_queries(torch.zeros(1, model.space.query_width, device=self.device)).shape[1]
        self.on_card = self.device.type != "cpu"
        self._batches: OrderedDict[tuple[Block, ...], Batch] = OrderedDict()
        self._laid, self._lock = Laid(), Lock()

    @property
    def measure(self) -> Measure | None:  # type: ignore[override]
        """The measure of the model's space; its scale may still be learned."""
        return self.model.space.measure

    @property
    def union(self) -> UnionWay:  # type: ignore[override]
        """What the model makes of a union before it is encoded."""
        return self.model.union

    @property
    def combine(self) -> Combine:  # type: ignore[override]
        """What the model makes of an entity's distances to the points of a union."""
        return self.model.combine

    def takes(self, tree: Tree) -> bool:
        """As `Encoder.takes`."""
        return self.model.takes(structure_of(tree))

    def points(self, trees: Sequence[Tree]) -> Points:
        """As `Encoder.points`; on a processor each thread encodes a part of many trees alone."""
        return Points.shared(self._points, trees, 1 if self.on_card else thread_count())

    def _points(self, trees: Sequence[Tree]) -> Points:
        """Encodes trees on this thread."""
        tables = by_structure(trees)
        batch = self._batch(tuple(Block(structure, len(rows)) for structure, rows in tables.items()))
        ids = np.fromiter((i for rows in tables.values() for row in rows.values() for i in row), np.int32)
        with torch.inference_mode(), self._laid.used(), one_thread():
            queries = self.model.encode(batch, torch.from_numpy(ids).to(self.device)).float()
            points = self.model.space.measured_queries(queries).cpu().numpy()
        return Points.by_tree(points, batch.layout.owners, [place for rows in tables.values() for place in rows])

    def distances(self, points: Floats, ids: npt.NDArray[np.integer] | None = None) -> Floats:
        """As `Encoder.distances`."""
        with torch.inference_mode():
            table: Tensor = self.model.entities.weight
            if ids is not None:
                table = table.index_select(0, torch.from_numpy(ids.astype(np.int64)).to(self.device))
            given = torch.from_numpy(np.ascontiguousarray(points)).to(self.device)
            return self._distances(given, table.float()).cpu().numpy()

    def nearest(self, points: Floats, k: int, keep: npt.NDArray[np.bool_]) -> tuple[Ids, Floats]:
        """As `Encoder.nearest`, in blocks of points against blocks of entities, where the weights are."""
        with torch.inference_mode():
            given, kept = (torch.from_numpy(np.ascontiguousarray(part)).to(self.device) for part in (points, keep))
            at_once = max(1, min(1024, _NUMBERS // (self._numbers * _ROWS)))
            found = [self._nearest(part, k, kept) for part in given.split(at_once)]
            ids, distances = (torch.cat(part).cpu().numpy() for part in zip(*found, strict=True))
        return ids, distances

    def _nearest(self, points: Tensor, k: int, kept: Tensor) -> tuple[Tensor, Tensor]:
        table, shape = self.model.entities.weight, (len(points), k)
        ids = torch.full(shape, -1, device=self.device)
        best = torch.full(shape, torch.inf, device=self.device)
        step = max(1, _NUMBERS // (self._numbers * max(1, len(points))))
        for first in range(0, len(table), step):
            rows = table[first : first + step]
            distances = self._distances(points, rows.float()).masked_fill(~kept[first : first + step], torch.inf)
            these = torch.arange(first, first + len(rows), device=self.device).expand(len(points), -1)
            best, order = torch.cat([best, distances], dim=1).topk(k, largest=False)
            ids = torch.cat([ids, these], dim=1).gather(1, order)
        return ids.masked_fill(best.isinf(), -1), best

    @property
    def _numbers(self) -> int:
        """How many numbers a pair of a point and an entity may cost: a space's own distance keeps all of a row's."""
        return self.model.space.entity_width if self.measure is None else 1

    def _distances(self, points: Tensor, table: Tensor) -> Tensor:
        """Returns the distances of points (D, f) to wide rows of the entity table (n, e): (D, n) float32."""
        measure, space = self.measure, self.model.space
        if measure is None or measure.kind != "inner":  # a query is its own point
            return space.distance_to_all(points, table).float()
        return measure.offset - points @ space.measured_entities(table).float().t()

    def rows(self, ids: npt.NDArray[np.integer] | None = None) -> npt.NDArray[Any]:
        """As `Encoder.rows`; those of a release are in bf16, half to keep and half to read.

        Products are made of rows in float32: what a release rounds away of them adds up.
        """
        with torch.inference_mode():
            table: Tensor = self.model.entities.weight
            if ids is not None:
                table = table.index_select(0, torch.from_numpy(ids.astype(np.int64)).to(self.device))
            rows = self.model.space.measured_entities(table).cpu()
            if self.form != FULL and self.measure is not None and self.measure.kind != "inner":
                rows = rows.to(torch.bfloat16)
            if rows.dtype is torch.bfloat16:
                return rows.contiguous().view(torch.uint16).numpy()
            return rows.float().contiguous().numpy()

    def save(self, folder: Path, facts: Mapping[str, Any]) -> None:
        """As `Encoder.save`, in one file of safetensors."""
        state = self.model.state_dict()
        if self.form == FULL:
            kept = {f"model.{name}": tensor for name, tensor in state.items()}
        else:
            kept = pack(state, self.form, self.model.row_parts)
        write(folder / WEIGHTS, self.facts(facts), kept)

    @classmethod
    def open(cls, folder: Path, facts: Mapping[str, Any], device: str = "cpu") -> Self:
        """As `Encoder.open`: the model has the file's own tensors in place of fresh ones, and nothing is drawn.

        On a processor nothing is copied, unless the weights are kept in less: those of a release are widened.
        """
        place = choose_device(device)
        saved = read(folder / WEIGHTS, place)
        return cls._of(saved, cls.check(folder / WEIGHTS, saved.facts, facts), place)

    @classmethod
    def of(cls, encoder: Encoder) -> TorchEncoder:
        """Returns an encoder with its weights in torch: the same, or a copy of one that was opened without torch."""
        if isinstance(encoder, TorchEncoder):
            return encoder
        if isinstance(encoder, NumpyEncoder):
            return cls._of(unmap(encoder.saved), encoder.form, choose_device("cpu"))
        raise EngineError(f"this engine keeps no weights to train or to rank: its encoder is {encoder.kind!r}")

    @classmethod
    def _of(cls, saved: Checkpoint, form: str, place: torch.device) -> Self:
        own = saved.facts
        with _NoDraws():
            model = build(own["method"], own["model"], entities=own["entities"], relations=own["relations"])
        weights = saved.part("model")
        if form != FULL:
            weights = unpack(weights, saved.part("scale"), model.row_parts)
        model.load_state_dict(weights, assign=True)
        for buffer in set(model.buffers()) - set(model.state_dict(keep_vars=True).values()):
            if buffer.is_floating_point():  # made anew, in float32: weights may be saved in less
                buffer.data = buffer.to(model.entities.weight.dtype)
        return cls(model.to(place).requires_grad_(False), form)

    def _batch(self, blocks: tuple[Block, ...]) -> Batch:
        with self._lock:
            made = self._batches.get(blocks) or Batch.of(build_layout(blocks, self.model.union), self.device)
            self._batches[blocks] = made
            self._batches.move_to_end(blocks)
            if len(self._batches) > _KEPT:
                self._batches.popitem(last=False)
            return made


class _NoDraws(TorchFunctionMode):
    """Leaves memory as it is where an initialiser would draw numbers that are about to be replaced."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _DRAWS:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def model_of(encoder: Encoder) -> Model:
    """Returns the model of an encoder, for what trains, ranks or rounds its weights."""
    return TorchEncoder.of(encoder).model


ENCODER = TorchEncoder
