"""The joint between asking and making: whatever turns trees into points and measures points against entities.

D points, N entities, n of them; f numbers of a row. A tree has one point, or one for each disjunct of a union.

Everything that goes in or comes out is an array of numpy, so those who ask need no training library. A saved engine
names the kind of its encoder, and `find` knows who opens it. Weights that torch wrote are opened without torch, by
`encoders/numpy.py`, if it knows their method and no other device is asked for; else by `models/_encoder.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from pathformer import plugins
from pathformer.compiled import share
from pathformer.errors import DivergedError, EngineError, needs_torch
from pathformer.files.fields import wrong_field
from pathformer.files.weights import check_graph
from pathformer.plan.layout import UnionWay
from pathformer.plan.measure import Measure
from pathformer.query.tree import Tree

__all__ = ["FORMS", "FULL", "WEIGHTS", "Combine", "Encoder", "Points", "find"]

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Combine = Literal["smallest", "probability"]  # of an entity's distances to the disjuncts of a union

# Who opens a kind, the lightest first; each module holds ENCODER, a class.
_OPENERS = {"torch": ("pathformer.encoders.numpy", "pathformer.models._encoder")}
WEIGHTS = "model.safetensors"  # the file of weights in an engine's folder
FULL = "full"  # the form of weights that are kept as they were trained
FORMS = ("bf16", "int8")  # those of a release
_PART = 32  # trees at least that a thread of its own pays for
_FACTS = {
    "method": "text", "model": "an object", "entities": "a count", "relations": "a count", "fingerprint": "text",
}  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class Points:
    """The points of some trees: tree i has the rows ptr[i] : ptr[i + 1]."""

    rows: Floats  # (D, f)
    ptr: Ids  # (trees + 1,)

    def of(self, position: int) -> Floats:
        """Returns the points of one tree."""
        return self.rows[self.ptr[position] : self.ptr[position + 1]]

    @classmethod
    def by_tree(cls, rows: Floats, owners: Ids, places: Sequence[int]) -> Self:
        """Sorts the points of a layout (D, f) by tree: query n of the layout, `owners` of points, is tree places[n]."""
        if not np.isfinite(rows).all():
            raise DivergedError("a question is encoded as numbers that are not finite: the model's weights diverged")
        tree_of = np.asarray(places, np.int64)[owners]
        order = np.argsort(tree_of, kind="stable")
        return cls(rows[order], np.searchsorted(tree_of[order], np.arange(len(places) + 1)))

    @classmethod
    def shared(cls, encode: Callable[[Sequence[Tree]], Points], trees: Sequence[Tree], threads: int) -> Points:
        """Lets each thread encode a part of many trees alone, and joins their points."""
        made: dict[int, Points] = {}

        def work(part: int, first: int, last: int) -> None:
            made[part] = encode(trees[first:last])

        share(work, len(trees), max(1, min(threads, len(trees) // _PART)))
        parts = [made[part] for part in sorted(made)]
        starts = np.cumsum([0, *(len(part.rows) for part in parts)])
        ptr = [part.ptr[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
        return cls(np.concatenate([part.rows for part in parts]), np.concatenate([*ptr, starts[-1:]]))


class Encoder(ABC):
    """A trained method in the service of questions."""

    kind: ClassVar[str]  # of the weights on disk: the name that a saved engine is opened by

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

    @classmethod
    def can_open(cls, facts: Mapping[str, Any], device: str) -> bool:
        """Whether this class opens weights of these facts, those of its kind, on this device."""
        return True

    def facts(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what the file of weights says of them; more: of the engine and its graph."""
        form = {} if self.form == FULL else {"form": self.form}
        return {**more, "method": self.name, "model": dict(self.settings), **form}

    @staticmethod
    def check(path: Path, own: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
        """Refuses a file of weights that says `own` and is no part of an engine that says `facts`; returns the form."""
        if problem := wrong_field(own, _FACTS):
            raise EngineError(f"{path}: {problem}: the engine is damaged: fit it again, or take a copy of it")
        check_graph(own, facts["fingerprint"], path, facts["dataset"])
        form = str(facts.get("form", FULL))
        if form not in (FULL, *FORMS):
            problem = f"keeps its weights in the form {form!r}, which this program does not read"
            raise EngineError(f"{path.parent} {problem}: release the engine again")
        return form


def find(facts: Mapping[str, Any], device: str = "cpu") -> type[Encoder]:
    """Returns the class that opens the encoder of an engine with these facts; only then is what it needs imported."""
    kind = facts["encoder"]
    for name in _OPENERS.get(kind, ()):
        try:
            encoder: type[Encoder] = import_module(name).ENCODER
        except ModuleNotFoundError:
            with needs_torch(f"the method {facts.get('method')!r}" if device == "cpu" else f"the device {device!r}"):
                raise
        if encoder.can_open(facts, device):
            return encoder
    plugin: type[Encoder] = plugins.load("encoders", kind).ENCODER
    return plugin
