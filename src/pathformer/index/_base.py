"""What every index gives: the nearest entities of a point, by exact distances, nearest first.

b points, k wanted, N entities; e, q numbers of an entity, a point; f of both as they are compared (`Measure`).

A backend is a file with one class, named by `INDEX = ...`, and a frozen `Config` of its options. It chooses candidates
in its own way; the distances that it returns are always the true ones. An entity's id is its row: those added later
come after the others, and removing one leaves all other ids as they are.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer import plugins
from pathformer.config import from_mapping
from pathformer.errors import DivergedError, InputError
from pathformer.files.atomic import new_folder
from pathformer.index._asked import chosen_points
from pathformer.index._folder import HEADER, Arrays, Folder, read_header, write_folder
from pathformer.index._measure import Measure
from pathformer.spaces._base import Space

__all__ = ["Found", "Index", "Keep", "build", "find", "load"]

Keep = npt.NDArray[np.bool_]  # (N,)
Entities = Tensor | npt.NDArray[Any] | Sequence[int]  # ids, or a bool an entity


class Found(NamedTuple):
    """The nearest entities of b points, nearest first; -1 and inf where there are fewer than k."""

    ids: Tensor  # (b, k) int64
    distances: Tensor  # (b, k) float32, ascending


class Index(ABC):
    """Entities to be found by their distance from a point."""

    name: ClassVar[str]
    config_type: ClassVar[type[Any]]
    chosen: ClassVar[tuple[str, ...]] = ()  # options of an approximate one that 0 leaves to it

    def __init__(self, measure: Measure, config: Any, width: int, alive: Keep) -> None:
        self.measure, self.config = measure, config
        self.given = config  # the options as they were asked for, before the index chose any
        self._width, self._alive = width, alive  # f; which ids are still there
        self._asked: Tensor | None = None  # (some, f), points that were given to tune by
        self._tuned = len(alive)  # how many entities there were when its settings were chosen
        self.about: dict[str, Any] = {}  # what was chosen and measured when it was built

    @classmethod
    def build(
        cls, vectors: Tensor, metric: str | Space = "l1", *, points: Tensor | None = None, **options: Any
    ) -> Self:
        """Index entity rows (N, e), kept in bf16 if they are given so, else in float32.

        metric: "l1", "cosine", "inner", or a space: its own distance, with its scale; points (some, q): such as will be
        asked, for a backend that measures its recall when it is built; options: the backend's `Config`.
        """
        config, measure = from_mapping(cls.config_type, options), Measure.of(metric)
        _check_rows(vectors)
        _check_width(vectors, measure.entity_width(vectors.shape[1]), "entities", "those of the space")
        if cls.chosen:
            measure.check_vector_metric(cls.name)
        asked = chosen_points(vectors.detach(), measure, points) if cls.chosen else None
        index = cls._build(measure.rows(vectors.detach()), measure, config, asked)
        index._asked = asked
        return index

    def search(self, points: Tensor, k: int, allowed: Entities | None = None) -> Found:
        """The k nearest entities of points (b, q), among `allowed` (ids, or a bool an entity) if given.

        The answer lies where the points lie.
        """
        self._check_points(points, k)
        keep = self._alive if allowed is None else self._alive & self._mask(allowed)
        with torch.no_grad():
            ids, distances = self._search(self.measure.points(points.detach()), k, keep)
            constants = self.measure.constants(points.detach())
            if constants is not None:
                distances = distances + constants.to(distances.device)[:, None]
            return Found(ids.to(points.device), distances.to(points.device))

    def add(self, vectors: Tensor) -> npt.NDArray[np.int64]:
        """Add entity rows (m, e); their ids (m,), which follow those that were given before.

        Settings that were chosen for the entities of then are chosen anew whenever their number has doubled; those that
        were asked for stay.
        """
        _check_rows(vectors)
        _check_width(vectors, self.measure.entity_width(self._width), "new entities", "those of the index")
        before = self.rows
        self._add(self.measure.rows(vectors.detach()))
        self._alive = np.concatenate([self._alive, np.ones(len(vectors), np.bool_)])
        if self.rows > 2 * self._tuned:
            self._tune_anew()
            self._tuned = self.rows
        return np.arange(before, self.rows)

    def remove(self, ids: Entities) -> None:
        """Never find these entities again; removing one twice changes nothing."""
        self._alive = self._alive & ~self._mask(ids)

    def __len__(self) -> int:
        return int(self._alive.sum())

    @property
    def rows(self) -> int:
        """How many ids were ever given, removed ones included."""
        return len(self._alive)

    @property
    def removed(self) -> npt.NDArray[np.int64]:
        """The ids that are never found again."""
        return np.flatnonzero(~self._alive)

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the index to a new folder, all or nothing; an existing one is refused, or replaced with `force`."""
        with new_folder(Path(folder), HEADER, force=force) as target:
            asked = {} if self._asked is None else {"asked": self._asked.cpu().numpy()}
            header = {
                "backend": self.name,
                "rows": self.rows,
                "tuned": self._tuned,
                "width": self._width,
                **self.measure.facts,
                "config": dataclasses.asdict(self.config),
                "given": dataclasses.asdict(self.given),
                "about": self.about,
            }
            write_folder(target, header, {"alive": self._alive, **asked, **self._arrays()})
        return Path(folder)

    @classmethod
    def load(cls, folder: str | Path, *, space: Space | None = None, device: torch.device | str = "cpu") -> Self:
        """Open what `save` wrote; large arrays are mapped, not read.

        space: the model's, for an index that measures by it; device: where an exact index searches.
        """
        path = Path(folder)
        header = read_header(path)
        if header["backend"] != cls.name:
            raise InputError(f"{path} holds an index of the backend {header['backend']!r}, not {cls.name!r}")
        measure = Measure.from_facts(header, space)
        arrays = Folder(path)
        index = cls._open(arrays, measure, from_mapping(cls.config_type, header["config"]), torch.device(device))
        if (index.rows, index._width) != (header["rows"], header["width"]):
            found, saved = f"{index.rows:,} rows of {index._width:,}", f"{header['rows']:,} of {header['width']:,}"
            raise InputError(f"{path} is not a whole index: {found} where {saved} were saved")
        index.about, index._tuned = header["about"], header["tuned"]
        index._asked = torch.from_numpy(np.array(arrays["asked"])) if "asked" in set(arrays) else None
        index.given = from_mapping(cls.config_type, header["given"])
        return index

    # --- what a backend gives -----------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def _build(cls, rows: Tensor, measure: Measure, config: Any, asked: Tensor | None) -> Self:
        """Index finite rows (N, f); asked (some, f): to tune by."""

    @abstractmethod
    def _search(self, points: Tensor, k: int, keep: Keep) -> tuple[Tensor, Tensor]:
        """As `search`, for points as `Measure.points` gives them."""

    @abstractmethod
    def _add(self, rows: Tensor) -> None:
        """Append rows (m, f)."""

    def _tune_anew(self) -> None:  # noqa: B027 (a backend without settings of that kind has nothing to do)
        """Choose what depends on the entities for those that are there now."""

    @abstractmethod
    def _arrays(self) -> Arrays:
        """What `_open` needs, `alive` apart."""

    @classmethod
    @abstractmethod
    def _open(cls, arrays: Arrays, measure: Measure, config: Any, device: torch.device) -> Self:
        """An index from its arrays, `alive` among them."""

    # --- the edges ----------------------------------------------------------------------------------------------------

    def _check_points(self, points: Tensor, k: int) -> None:
        width = self.measure.width(self._width)
        if points.ndim != 2 or points.shape[1] != width:
            raise InputError(f"points have the shape {tuple(points.shape)}, expected (any number, {width})")
        if k < 1:
            raise InputError(f"{k} nearest entities were asked for; ask for at least one")
        if not bool(torch.isfinite(points).all()):
            raise DivergedError("a point holds numbers that are not finite: nothing is near it")

    def _mask(self, entities: Entities) -> Keep:
        """A bool an entity, from ids or from such a mask."""
        given = entities.detach().cpu().numpy() if isinstance(entities, Tensor) else np.asarray(entities)
        if given.dtype == np.bool_:
            if given.shape != (self.rows,):
                raise InputError(f"a mask of {given.shape} entities, expected ({self.rows},)")
            return given
        if given.size and given.dtype.kind not in "iu":
            raise InputError(f"entities are given by {given.dtype}, expected ids (whole numbers) or a mask (bool)")
        ids = given.astype(np.int64, copy=False).reshape(-1)
        wrong = ids[(ids < 0) | (ids >= self.rows)]
        if len(wrong):
            raise InputError(f"entity {wrong[0]} is not in the index: its ids go from 0 to {self.rows - 1}")
        mask = np.zeros(self.rows, np.bool_)
        mask[ids] = True
        return mask


def find(name: str) -> type[Index]:
    """The class of a backend, by its file's name."""
    backend: type[Index] = plugins.load("indexes", name).INDEX
    return backend


def build(
    name: str, vectors: Tensor, metric: str | Space = "l1", *, points: Tensor | None = None, **options: Any
) -> Index:
    """An index of a backend, by name, over entity rows (N, e): `Index.build`."""
    return find(name).build(vectors, metric, points=points, **options)


def load(folder: str | Path, *, space: Space | None = None, device: torch.device | str = "cpu") -> Index:
    """Open a saved index of any backend."""
    return find(read_header(Path(folder))["backend"]).load(folder, space=space, device=device)


def _check_rows(vectors: Tensor) -> None:
    if vectors.ndim != 2 or not vectors.numel():
        raise InputError(f"entities have the shape {tuple(vectors.shape)}, expected (at least one, at least one)")
    ends = torch.stack(torch.aminmax(vectors.detach()))  # no nan gets lost, at a fortieth of the time
    if not bool(torch.isfinite(ends).all()):
        raise DivergedError("the entities hold numbers that are not finite: the weights diverged")


def _check_width(vectors: Tensor, width: int, which: str, others: str) -> None:
    if vectors.shape[1] != width:
        raise InputError(f"{which} have {vectors.shape[1]} numbers, {others} {width}")
