"""Walks a graph of near neighbours towards the point: the HNSW of faiss (Malkov and Yashunin 2018).

b points, N entities, f numbers of a row.

The cosine is the inner product of rows of length one. For other inner products an entity's neighbours are those of the
largest product, lengths included (Morozov and Babenko 2018): a graph by the angle of rows completed to one length, as
`lsh` hashes them, needs far broader walks.

faiss keeps rows in float32 and adds distances up in its own order, so the entities it finds are measured again here:
distances have the same bits as those of every other index. Where few entities are allowed, the walks would meet mostly
others, so those few are all measured instead. The graph is slow to build.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from pathformer.compiled import thread_count
from pathformer.config import check_range
from pathformer.errors import MissingExtraError
from pathformer.index._base import Keep, RowIndex
from pathformer.index._files import Arrays, Folder
from pathformer.index._rows import Floats, Ids, Rows, Stored, prepare
from pathformer.index._tuning import WANTED, Trial, aim, check_recall
from pathformer.index.kernels.bf16 import to_float32
from pathformer.plan.measure import Measure

__all__ = ["HNSW", "INDEX", "Config"]

_BREADTHS = (32, 64, 128, 256, 512, 1024, 2048)  # of a walk, that are tried
_FEW = 0.1  # a share of allowed entities below which all of them are measured
_MOST_LINKS, _MOST = 1 << 10, 1 << 20  # beyond that looking at every entity is less work


@dataclass(frozen=True, kw_only=True)
class Config:
    """Options of `hnsw`; what is 0 is chosen when the index is built, and kept."""

    recall: float = 0.95  # recall@10 to be reached
    links: int = 32  # M: neighbours that an entity keeps on each level
    construction: int = 80  # candidates while the graph is built
    breadth: int = 0  # candidates of a walk where ten are wanted; more are in proportion

    def __post_init__(self) -> None:
        check_recall(self.recall)
        check_range(self, "links", least=2)
        check_range(self, "construction", least=1)
        check_range(self, "breadth", least=0)
        if self.links > _MOST_LINKS or max(self.construction, self.breadth) > _MOST:
            raise ValueError(f"links must be at most {_MOST_LINKS:,}, construction and breadth at most {_MOST:,}")


class HNSW(RowIndex):
    """The graph of faiss, and the rows once more as they were given."""

    name: ClassVar[str] = "hnsw"
    config_type: ClassVar[type[Config]] = Config
    chosen: ClassVar[tuple[str, ...]] = ("breadth",)

    def __init__(self, measure: Measure, config: Config, graph: Any, rows: Rows, alive: Keep) -> None:
        super().__init__(measure, config, rows.width, alive)
        self._graph, self._rows = graph, rows
        self._mapped: npt.NDArray[np.uint8] | None = None  # what the graph is a view of, where it is one

    @classmethod
    def _build(cls, rows: Stored, measure: Measure, config: Config, sample: Floats | None) -> Self:
        faiss = _faiss()
        metric = faiss.METRIC_L1 if measure.kind == "l1" else faiss.METRIC_INNER_PRODUCT
        graph = faiss.IndexHNSWFlat(rows.shape[1], config.links, metric)
        graph.hnsw.efConstruction = config.construction
        index = cls(measure, config, graph, Rows.of(rows, measure), np.ones(len(rows), np.bool_))
        index._insert(rows)
        index._tune(Trial.of(rows, measure, sample, seed=0))
        return index

    def _insert(self, rows: Stored) -> None:
        with _threads():
            self._graph.add(prepare(to_float32(rows), self.measure))

    def _tune(self, trial: Trial) -> None:
        """Takes the smallest breadth that reaches the target on a sample."""
        for breadth in (self.config.breadth,) if self.config.breadth else _BREADTHS:
            recall = trial.recall(self._walk(trial.points, WANTED, breadth, None))
            if recall >= aim(self.config.recall):
                break
        self.config = dataclasses.replace(self.config, breadth=breadth)
        self.about = {"breadth": breadth, "recall@10 on a sample": round(recall, 4)}

    def _tune_anew(self) -> None:
        """Walks as broadly as the larger graph needs, if no breadth was asked for."""
        self.config = dataclasses.replace(self.config, breadth=self.given.breadth)
        self._tune(Trial.of(self._rows.stored, self.measure, self._tuned_by, seed=0))

    def nearest_prepared(self, points: Floats, k: int, keep: Keep) -> tuple[Ids, Floats]:
        """Finds the nearest of points that `prepare` gave."""
        kept = int(keep.sum())
        if kept <= max(k, _FEW * self.rows):
            every = np.flatnonzero(keep)
            return self._rows.nearest(points, k, lambda part: np.broadcast_to(every, (len(part), kept)), at_once=16)
        breadth = int(self.config.breadth * max(1.0, k / WANTED) * self.rows / kept)
        chosen = keep if kept < self.rows else None
        return self._rows.nearest(points, k, lambda part: self._walk(part, k, breadth, chosen))

    def _walk(self, points: Floats, k: int, breadth: int, keep: Keep | None) -> Ids:
        """Returns the ids (b, k) that a walk of this breadth finds, -1 where it finds fewer."""
        faiss = _faiss()
        selector = None if keep is None else faiss.IDSelectorBitmap(np.packbits(keep, bitorder="little"))
        how = faiss.SearchParametersHNSW(efSearch=max(breadth, k), sel=selector)
        with _threads():
            found: Ids = self._graph.search(np.ascontiguousarray(points), k, params=how)[1]
        return found

    def _add(self, rows: Stored) -> None:
        if self._mapped is not None:  # a view cannot grow
            self._graph, self._mapped = _faiss().deserialize_index(np.array(self._mapped)), None
        self._insert(rows)
        self._rows.append(rows)

    def _arrays(self) -> Arrays:
        return {"graph": _faiss().serialize_index(self._graph), **self._rows.arrays()}

    @classmethod
    def _open(cls, arrays: Folder, measure: Measure, config: Config) -> Self:
        mapped = arrays.checked("graph")  # walks follow its numbers without looking
        index = cls(measure, config, _view(mapped), Rows.open(arrays, measure), np.array(arrays["alive"]))
        index._mapped = mapped
        return index


def _view(mapped: npt.NDArray[np.uint8]) -> Any:
    """Opens a graph that reads an array where it lies: only the parts that walks have met come into memory."""
    faiss = _faiss()
    reader = faiss.ZeroCopyIOReader(faiss.swig_ptr(mapped), mapped.nbytes)
    return faiss.read_index(reader, faiss.IO_FLAG_MMAP_IFC)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise MissingExtraError("the index hnsw", "faiss", "faiss") from None
    return faiss


@contextmanager
def _threads() -> Iterator[None]:
    """Inside, faiss uses as many threads as other work does."""
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(thread_count())
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


INDEX = HNSW
