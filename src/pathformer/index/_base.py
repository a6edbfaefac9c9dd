"""The interface of every index: the nearest entities of a point, by exact distances, nearest first.

b points, k wanted, N entities; f numbers of a row.

An index is a file with one class, named by `INDEX = ...`, and a frozen `Config` of its options. It chooses candidates
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

from pathformer import plugins
from pathformer.config import from_mapping
from pathformer.errors import DivergedError, InputError
from pathformer.files.atomic import new_folder
from pathformer.files.saved import Saved, open_save
from pathformer.index._files import HEADER, Arrays, Folder, check_header, read_header, write_folder
from pathformer.plan.encoder import Encoder
from pathformer.plan.measure import Measure

__all__ = ["Found", "Index", "Keep", "OwnIndex", "RowIndex", "build", "build_for", "find", "load", "open_saved"]

Keep = npt.NDArray[np.bool_]  # (N,)
Entities = npt.NDArray[Any] | Sequence[int]  # ids, or a bool an entity
Array = npt.NDArray[Any]


class Found(NamedTuple):
    """The nearest entities of b points, nearest first; -1 and inf where there are fewer than k."""

    ids: npt.NDArray[np.int64]  # (b, k)
    distances: npt.NDArray[np.float32]  # (b, k) ascending


class Index(ABC):
    """Entities to be found by their distance from a point."""

    name: ClassVar[str]
    config_type: ClassVar[type[Any]]
    chosen: ClassVar[tuple[str, ...]] = ()  # options of an approximate one that 0 leaves to it

    def __init__(self, measure: Measure | None, config: Any, width: int, alive: Keep) -> None:
        """measure: None where only an encoder knows the distance; alive: which ids are still there."""
        self.measure, self.config = measure, config
        self.given = config  # the options as they were asked for, before the index chose any
        self.about: dict[str, Any] = {}  # what was chosen and measured when it was built
        self._width, self._alive = width, alive
        self._tuned_by: npt.NDArray[np.float32] | None = None  # (S, f) points that were given to tune by
        self._tuned_at = len(alive)  # how many entities there were when its settings were chosen

    @abstractmethod
    def nearest(self, points: Array, k: int, allowed: Entities | None = None) -> Found:
        """Returns the k nearest entities of points (b, f), among `allowed` (ids, or a bool an entity) if given."""

    @abstractmethod
    def add(self, rows: Array) -> npt.NDArray[np.int64]:
        """Adds entities and returns their ids (m,), which follow those that were given before."""

    def remove(self, ids: Entities) -> None:
        """Never finds these entities again; removing one twice changes nothing."""
        self._alive = self._alive & ~self._mask(ids)

    def __len__(self) -> int:
        return int(self._alive.sum())

    @property
    def rows(self) -> int:
        """The number of ids that were ever given, removed ones included."""
        return len(self._alive)

    @property
    def removed(self) -> npt.NDArray[np.int64]:
        """The ids that are never found again."""
        return np.flatnonzero(~self._alive)

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Writes the index to a new folder, all or nothing; an existing one is refused, or replaced with `force`."""
        with new_folder(Path(folder), HEADER, kind="index", force=force) as target:
            tuned_by = {} if self._tuned_by is None else {"tuned_by": self._tuned_by}
            header = {
                "backend": self.name,
                "rows": self.rows,
                "width": self._width,
                "measure": None if self.measure is None else self.measure.kind,
                "scale": 1.0 if self.measure is None else self.measure.scale,
                "offset": 0.0 if self.measure is None else self.measure.offset,
                "config": dataclasses.asdict(self.config),
                "given": dataclasses.asdict(self.given),
                "tuned_at": self._tuned_at,
                "about": self.about,
            }
            write_folder(target, header, {"alive": self._alive, **tuned_by, **self._arrays()})
        return Path(folder)

    @abstractmethod
    def _arrays(self) -> Arrays:
        """Returns what is saved beside `alive`."""

    def _check_request(self, points: Array, k: int, allowed: Entities | None) -> Keep:
        """Checks what `nearest` was given and returns which entities may be found (N,)."""
        if points.ndim != 2 or points.shape[1] != self._width:
            raise InputError(f"points have the shape {tuple(points.shape)}, expected (any number, {self._width})")
        if k < 1:
            raise InputError(f"{k} nearest entities were asked for; ask for at least one")
        if not np.isfinite(points).all():
            raise DivergedError("a point holds numbers that are not finite: the model's weights diverged")
        return self._alive if allowed is None else self._alive & self._mask(allowed)

    def _mask(self, entities: Entities) -> Keep:
        """Returns a bool an entity, from ids or from such a mask."""
        given = np.asarray(entities)
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


class RowIndex(Index):
    """An index over rows of numbers, compared by a measure: the base of what the folder's files hold."""

    measure: Measure

    @classmethod
    def build(cls, rows: Array, measure: str | Measure = "l1", *, points: Array | None = None, **options: Any) -> Self:
        """Indexes the rows of entities (N, f), float32, or bf16 in uint16.

        points (n, f): such as will be asked, for an index that measures its recall when it is built; options: of the
        index's `Config`.
        """
        from pathformer.index._rows import to_stored
        from pathformer.index._tuning import sample_points

        config, known = from_mapping(cls.config_type, options), Measure.of(measure)
        stored = to_stored(_check_rows(rows))
        sample = sample_points(points, stored.shape[1], known) if cls.chosen else None
        index = cls._build(stored, known, config, sample)
        index._tuned_by = sample
        return index

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Opens what `save` wrote; large arrays are mapped, not read."""
        check_header(Path(folder))
        return open_save(Path(folder), "index", cls.open_saved)

    @classmethod
    def open_saved(cls, saved: Saved) -> Self:
        """Opens an index in a folder that was checked, of an engine or alone."""
        path = saved.folder
        header = read_header(path)
        if header["backend"] != cls.name:
            raise InputError(f"{path} holds an index of the backend {header['backend']!r}, not {cls.name!r}")
        if header["measure"] is None:
            raise InputError(f"{path} holds no distances: only the engine's own encoder can measure them")
        arrays = Folder(saved)
        measure = Measure(Measure.of(header["measure"]).kind, header["scale"], header["offset"])
        index = cls._open(arrays, measure, from_mapping(cls.config_type, header["config"]))
        if (index.rows, index._width) != (header["rows"], header["width"]):
            found, expected = f"{index.rows:,} rows of {index._width:,}", f"{header['rows']:,} of {header['width']:,}"
            raise InputError(f"{path} is not a whole index: {found} where {expected} were saved")
        index.about, index._tuned_at = header["about"], header["tuned_at"]
        index._tuned_by = np.array(arrays["tuned_by"]) if "tuned_by" in set(arrays) else None
        index.given = from_mapping(cls.config_type, header["given"])
        return index

    def nearest(self, points: Array, k: int, allowed: Entities | None = None) -> Found:
        """Finds what `Index.nearest` promises."""
        from pathformer.index._rows import prepare

        keep = self._check_request(points, k, allowed)
        return Found(*self.nearest_prepared(prepare(points, self.measure), k, keep))

    def add(self, rows: Array) -> npt.NDArray[np.int64]:
        """Adds rows (m, f), as `Index.add` promises.

        Settings that were chosen for the entities of then are chosen anew whenever their number has doubled; those that
        were asked for stay.
        """
        if _check_rows(rows).shape[1] != self._width:
            raise InputError(f"new entities have {rows.shape[1]} numbers, those of the index {self._width}")
        before = self.rows
        self._add(rows)
        self._alive = np.concatenate([self._alive, np.ones(len(rows), np.bool_)])
        if self.rows > 2 * self._tuned_at:
            self._tune_anew()
            self._tuned_at = self.rows
        return np.arange(before, self.rows)

    @classmethod
    @abstractmethod
    def _build(cls, rows: Array, measure: Measure, config: Any, sample: Array | None) -> Self:
        """Indexes finite stored rows (N, f); sample (S, f): to tune by."""

    @abstractmethod
    def nearest_prepared(self, points: Array, k: int, keep: Keep) -> tuple[Array, Array]:
        """Finds the nearest of points that `prepare` gave."""

    @abstractmethod
    def _add(self, rows: Array) -> None:
        """Appends rows (m, f)."""

    def _tune_anew(self) -> None:
        """Chooses what depends on the entities for those that are there now."""

    @classmethod
    @abstractmethod
    def _open(cls, arrays: Folder, measure: Measure, config: Any) -> Self:
        """Returns an index from its arrays, `alive` among them."""


class OwnIndex(Index):
    """All entities, measured by the encoder itself: by a distance that no measure describes, or on a card."""

    name = "exact"

    def __init__(self, encoder: Encoder, config: Any, alive: Keep | None = None) -> None:
        everything = np.ones(encoder.entity_count, np.bool_)
        super().__init__(encoder.measure, config, encoder.width, everything if alive is None else alive)
        self._encoder = encoder

    def nearest(self, points: Array, k: int, allowed: Entities | None = None) -> Found:
        """Finds what `Index.nearest` promises."""
        return Found(*self._encoder.nearest(points, k, self._check_request(points, k, allowed)))

    def add(self, rows: Array) -> npt.NDArray[np.int64]:
        """Refused: the encoder's own entities are all there are."""
        raise InputError("this index has the entities of its encoder, no others: build it again over another encoder")

    def _arrays(self) -> Arrays:
        """Nothing for a distance of the encoder's own; else the table, for a machine without a card."""
        if self.measure is None:
            return {}
        return find("exact").build(self._encoder.rows(), self.measure)._arrays()


def find(name: str) -> type[RowIndex]:
    """Returns the class of an index, by its file's name."""
    index: type[RowIndex] = plugins.load("indexes", name).INDEX
    return index


def build(
    name: str, rows: Array, measure: str | Measure = "l1", *, points: Array | None = None, **options: Any
) -> RowIndex:
    """Builds an index over rows (N, f), by its name: `RowIndex.build`."""
    return find(name).build(rows, measure, points=points, **options)


def build_for(encoder: Encoder, name: str = "exact", *, points: Array | None = None, **options: Any) -> Index:
    """Builds an index over the entities of an encoder, by its name; points (n, f): to tune it by."""
    index = find(name)
    if name == OwnIndex.name and (encoder.measure is None or encoder.on_card):
        return OwnIndex(encoder, from_mapping(index.config_type, options))
    if encoder.measure is None:
        known = "the L1 norm, the cosine and inner products"
        raise InputError(f"{name} knows {known}; {encoder.name} has its own distance: use exact")
    return index.build(encoder.rows(), encoder.measure, points=points, **options)


def load(folder: str | Path, encoder: Encoder | None = None) -> Index:
    """Opens a saved index; encoder: of the engine that it belongs to, which may measure the distances itself."""
    check_header(Path(folder))
    return open_save(Path(folder), "index", lambda saved: open_saved(saved, encoder))


def open_saved(saved: Saved, encoder: Encoder | None = None) -> Index:
    """Opens an index in a folder that was checked; encoder: as in `load`."""
    header = read_header(saved.folder)
    index = find(header["backend"])
    if encoder is None or index.name != OwnIndex.name or not (header["measure"] is None or encoder.on_card):
        return index.open_saved(saved)
    config, alive = from_mapping(index.config_type, header["config"]), np.array(Folder(saved)["alive"])
    if len(alive) != encoder.entity_count or header["rows"] != len(alive):
        raise InputError(
            f"{saved.folder} is not a whole index: {len(alive):,} entities, {encoder.entity_count:,} expected"
        )
    return OwnIndex(encoder, config, alive)


def _check_rows(rows: Array) -> Array:
    """Returns rows that are a table of finite numbers; refuses others."""
    if rows.ndim != 2 or not rows.size:
        raise InputError(f"entities have the shape {tuple(rows.shape)}, expected (at least one, at least one)")
    if rows.dtype == np.uint16:
        finite = bool(((rows & 0x7F80) != 0x7F80).all())
    else:
        finite = bool(np.isfinite([rows.min(), rows.max()]).all())  # no nan gets lost
    if not finite:
        raise DivergedError("the entities hold numbers that are not finite: the model's weights diverged")
    return rows
