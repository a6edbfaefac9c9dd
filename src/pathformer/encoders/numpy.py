"""The numpy side of the joint: the methods that `fit` produces, with the answers of `models._encoder` and no torch.

D points, N entities, n of them, V values of a batch, d numbers of a row and of a point.

Weights are mapped, so that processes share them and nothing is read before it is used; those of a release are widened
to float32. A method's file holds its settings, which say what numpy knows of it, and how it encodes paths and forks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from pathformer.compiled import one_blas_thread, thread_count
from pathformer.config import from_mapping
from pathformer.encoders.blocks import Floats, Weights
from pathformer.errors import CheckpointError, ConfigError, EngineError
from pathformer.files.weights import WeightsFile, open_weights
from pathformer.index.kernels.bf16 import to_bf16, to_float32
from pathformer.plan.build import build_layout, by_structure
from pathformer.plan.encoder import FULL, WEIGHTS, Combine, Encoder, Points
from pathformer.plan.layout import Block, EqualPaths, ForkStep, Layout, UnionWay
from pathformer.plan.lift_negations import lift_negations
from pathformer.plan.measure import Measure
from pathformer.query.tree import Tree

__all__ = ["ENCODER", "Method", "NumpyEncoder", "method_type"]

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_METHODS = {"composed": "pathformer.encoders.composed", "pathformer": "pathformer.encoders.pathformer"}
_NUMBERS = 1 << 24  # distances at once
_SHORTEST = np.float32(1e-12)  # length: a shorter row is at right angles to all others


class Method(Protocol):
    """A trained method: a table of entities, and a way from paths and forks to rows of it."""

    settings_type: ClassVar[type[Any]]  # of the settings that numpy knows
    entities: Floats  # (N, d)
    measure: Measure
    combine: Combine
    lifts: bool  # whether negations at the end of a path are taken by the fork that reads it

    def __init__(self, settings: Any, weights: Weights) -> None: ...
    def paths(self, group: EqualPaths, ids: npt.NDArray[np.int32], bank: Floats, roots: Flags) -> Floats:
        """Encodes n paths; bank (V, d): the values so far, roots (n,): which paths feed no fork -> (n, d)."""

    def forks(self, branches: Sequence[Floats], denied: Sequence[Flags] | None) -> Floats:
        """Joins branches of F forks, with rows denied by the forks marked: (n_1, d), (n_2, d), ... -> (F, d)."""


class NumpyEncoder(Encoder):
    """A method in the service of trees, on a processor."""

    kind: ClassVar[str] = "torch"  # its weights are those that a model of torch wrote
    union: UnionWay = "dnf"
    measure: Measure

    def __init__(self, saved: WeightsFile, form: str) -> None:
        """form: in which the weights are kept on disk; they are widened here."""
        self.saved, self.form = saved, form
        self.name, self.settings = saved.facts["method"], saved.facts["model"]
        kind = method_type(self.name)
        if kind is None:
            raise EngineError(f"the method {self.name!r} is not one that numpy knows")
        self._method = kind(from_mapping(kind.settings_type, self.settings), _widen(saved))
        self.measure, self.combine = self._method.measure, self._method.combine
        self.entity_count, self.width = self._method.entities.shape

    @classmethod
    def can_open(cls, facts: Mapping[str, Any], device: str) -> bool:
        """Whether the method is one that numpy knows, with these settings, and is asked for on the processor."""
        kind = method_type(facts.get("method"))
        try:
            return device == "cpu" and kind is not None and bool(from_mapping(kind.settings_type, facts["model"]))
        except (ConfigError, KeyError):
            return False

    @classmethod
    def open(cls, folder: Path, facts: Mapping[str, Any], device: str = "cpu") -> Self:
        """Maps what `save` or a model of torch wrote."""
        path = folder / WEIGHTS
        saved = open_weights(path)
        try:
            return cls(saved, cls.check(path, saved.facts, facts))
        except KeyError as error:
            raise EngineError(f"{path} lacks {error.args[0]}: the engine is damaged: take a copy of it") from error

    def save(self, folder: Path, facts: Mapping[str, Any]) -> None:
        """Writes the weights that were opened, bit by bit."""
        self.saved.write(folder / WEIGHTS, self.facts(facts))

    def takes(self, tree: Tree) -> bool:
        """Says yes: these methods take any structure."""
        return True

    def points(self, trees: Sequence[Tree]) -> Points:
        """Encodes trees; each thread encodes a part of many trees alone."""
        with one_blas_thread():
            return Points.shared(self._points, trees, thread_count())

    def _points(self, trees: Sequence[Tree]) -> Points:
        tables = by_structure(trees)
        blocks = tuple(Block(structure, len(rows)) for structure, rows in tables.items())
        ids = np.fromiter((i for rows in tables.values() for row in rows.values() for i in row), np.int32)
        layout, denied = _lay_out(blocks, self.union, self._method.lifts)
        return Points.by_tree(
            self._encode(layout, denied, ids), layout.owners, [place for rows in tables.values() for place in rows]
        )

    def _encode(self, layout: Layout, denied: Flags, ids: npt.NDArray[np.int32]) -> Floats:
        """Encodes level by level, paths from anchors, forks, paths from variables, ...: ids (I,) -> (D, d)."""
        bank = np.empty((layout.values, self.width), np.float32)
        is_root = np.zeros(layout.values, np.bool_)
        is_root[layout.roots] = True
        for step in layout.steps:
            if isinstance(step, ForkStep):
                branches = [bank[values] for values in step.branches]
                marked = [denied[values] for values in step.branches] if self._method.lifts else None
                bank[step.first : step.first + len(step)] = self._method.forks(branches, marked)
                continue
            for group in step.by_length:
                own = slice(group.first, group.first + len(group.kinds))
                bank[own] = self._method.paths(group, ids, bank, is_root[own])
        return bank[layout.roots]

    def distances(self, points: Floats, ids: npt.NDArray[np.integer] | None = None) -> Floats:
        """Measures entities (all of them, or n ids) from points (D, d): (D, N) or (D, n)."""
        rows, measure = self._rows(ids), self.measure
        with one_blas_thread():
            if measure.kind == "cosine":
                return np.float32(measure.scale) * (1.0 - _unit(points) @ _unit(rows).T)
            return np.float32(measure.offset) - points @ rows.T

    def nearest(self, points: Floats, k: int, keep: Flags) -> tuple[Ids, Floats]:
        """Returns the k nearest entities that `keep` (N,) allows, (D, k); of equal distances the smaller id first."""
        ids, best = np.full((len(points), k), -1, np.int64), np.full((len(points), k), np.inf, np.float32)
        at_once = max(1, _NUMBERS // self.entity_count)
        kept = np.flatnonzero(keep)
        for first in range(0, len(points), at_once):
            part = slice(first, first + at_once)
            distances = self.distances(points[part], kept)
            order = np.argsort(distances, axis=1, kind="stable")[:, :k]
            ids[part, : order.shape[1]] = kept[order]
            best[part, : order.shape[1]] = np.take_along_axis(distances, order, axis=1)
        return ids, best

    def rows(self, ids: npt.NDArray[np.integer] | None = None) -> npt.NDArray[Any]:
        """Returns entities as `measure` compares them, (N, d) or (n, d): in the same types as `TorchEncoder.rows`."""
        in_bf16 = self.saved.part("model")["entities.weight"].dtype == np.uint16
        halved = in_bf16 if self.form == FULL else self.measure.kind != "inner"
        return to_bf16(self._rows(ids)) if halved else self._rows(ids)

    def _rows(self, ids: npt.NDArray[np.integer] | None) -> Floats:
        return self._method.entities if ids is None else self._method.entities[ids]


def method_type(name: Any) -> type[Method] | None:
    """Returns the class of a method, None for one that numpy does not know."""
    method: type[Method] | None = import_module(_METHODS[name]).METHOD if name in _METHODS else None
    return method


@lru_cache(maxsize=64)  # a service sees few shapes, a batch of many shapes is rarely seen twice
def _lay_out(blocks: tuple[Block, ...], union: UnionWay, lifts: bool) -> tuple[Layout, Flags]:
    """Returns the steps of a batch, and which of its values forks deny: (V,)."""
    layout = build_layout(blocks, union)
    return lift_negations(layout) if lifts else (layout, np.zeros(layout.values, np.bool_))


def _widen(saved: WeightsFile) -> Weights:
    """Returns the weights in float32."""
    scales = saved.part("scale")
    return {name: _to_float32(name, array, scales.get(name)) for name, array in saved.part("model").items()}


def _to_float32(name: str, array: npt.NDArray[Any], scale: Floats | None) -> Floats:
    if array.dtype != np.int8:
        return to_float32(array)
    if scale is None or scale.shape != array.shape[:-1]:
        raise CheckpointError(
            f"{name} is kept in int8 without a scale for every row: the file is damaged, take a copy of it"
        )
    return array.astype(np.float32) * scale[..., None]


def _unit(rows: Floats) -> Floats:
    """Returns rows divided by their lengths."""
    unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), _SHORTEST)
    return unit


ENCODER = NumpyEncoder
