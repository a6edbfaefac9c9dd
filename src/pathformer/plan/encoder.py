"""The joint between asking and making: whatever turns trees into points and measures points against entities.

D points, N entities, n of them; f numbers of a row. A tree has one point, or one for each disjunct of a union.

Everything that goes in or comes out is an array of numpy, so those who ask need no training library. A saved engine
names its encoder, and `find` knows who opens it: `models/_encoder.py`, for weights of torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from pathformer import plugins
from pathformer.plan.layout import UnionWay
from pathformer.plan.measure import Measure
from pathformer.query.tree import Tree

__all__ = ["FULL", "Combine", "Encoder", "Points", "find"]

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Combine = Literal["smallest", "probability"]  # of an entity's distances to the disjuncts of a union

_MODULES = {"torch": "pathformer.models._encoder"}  # each holds ENCODER, a class
FULL = "full"  # the form of weights that are kept as they were trained


@dataclass(frozen=True, eq=False, slots=True)
class Points:
    """The points of some trees: tree i has the rows ptr[i] : ptr[i + 1]."""

    rows: Floats  # (D, f)
    ptr: Ids  # (trees + 1,)

    def of(self, position: int) -> Floats:
        """Returns the points of one tree."""
        return self.rows[self.ptr[position] : self.ptr[position + 1]]


class Encoder(ABC):
    """A trained method in the service of questions."""

    kind: ClassVar[str]  # the name that a saved engine finds it by

    name: str  # of the method
    settings: Mapping[str, Any]  # of the method
    form: str  # in which the weights are kept on disk: `FULL`, or that of a release
    entity_count: int  # N
    width: int  # f, of a point
    measure: Measure | None  # of points and `rows`; None for a distance that this encoder alone knows
    union: UnionWay  # what becomes of a union before it is encoded
    combine: Combine  # what becomes of an entity's distances to several points of one tree
    on_card: bool = False  # whether this encoder finds the nearest entities faster than an index on the processor

    @abstractmethod
    def points(self, trees: Sequence[Tree]) -> Points:
        """Encodes trees."""

    @abstractmethod
    def distances(self, points: Floats, ids: npt.NDArray[np.integer] | None = None) -> Floats:
        """Returns how far entities (all of them, or n ids) are from points (D, f): (D, N) or (D, n)."""

    @abstractmethod
    def nearest(self, points: Floats, k: int, keep: npt.NDArray[np.bool_]) -> tuple[Ids, Floats]:
        """Returns the k nearest entities that `keep` (N,) allows, (D, k) ids and distances; -1 and inf for none."""

    @abstractmethod
    def rows(self, ids: npt.NDArray[np.integer] | None = None) -> npt.NDArray[Any]:
        """Returns entities as `measure` compares them, (N, f) or (n, f): float32, or bf16 as the upper half, uint16."""

    @abstractmethod
    def takes(self, tree: Tree) -> bool:
        """Whether the method can encode trees of this structure."""

    @abstractmethod
    def save(self, folder: Path, facts: Mapping[str, Any]) -> None:
        """Writes the weights into a folder; facts: of the engine and its graph, to be told apart by."""

    @classmethod
    @abstractmethod
    def open(cls, folder: Path, facts: Mapping[str, Any], device: str = "cpu") -> Self:
        """Opens what `save` wrote; weights that were saved with other facts are refused.

        device: where trees are encoded: cpu, cuda, cuda:1 for a second card, or auto.
        """


def find(kind: str) -> type[Encoder]:
    """Returns the class that opens the encoders of a kind; only then is what it needs imported."""
    module = import_module(_MODULES[kind]) if kind in _MODULES else plugins.load("encoders", kind)
    encoder: type[Encoder] = module.ENCODER
    return encoder
