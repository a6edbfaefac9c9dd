"""Sets of queries with easy and hard answers: drawn, saved, read from any layout, completed by traversal.

Validation is train against train + valid, test is train + valid against everything (`protocol`: answers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from pathformer import plugins
from pathformer.errors import BenchmarkError
from pathformer.files.atomic import check_target
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import Structure
from pathformer.querysets.protocol import Protocol, protocol_for, structures_of
from pathformer.querysets.queries import Queries, Stored
from pathformer.querysets.sampler import Rules, links, sample
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.graph_pair import GraphPair

__all__ = ["SPLITS", "Benchmark", "Folder", "check_free", "graph_pair", "read_folder", "sample_benchmark"]

SPLITS = ("train", "valid", "test")
_SMALLER = {"train": None, "valid": "train", "test": "valid"}
LAYOUTS = "pathformer.querysets.layouts"


def graph_pair(kg: KnowledgeGraph, split: str) -> GraphPair:
    """The graphs that a split's answers hang on."""
    smaller = _SMALLER[split]
    if smaller == "valid" and "valid" not in kg.splits:
        smaller = "train"
    return GraphPair.of(kg.graph(split), kg.graph(smaller) if smaller else None)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Queries by split and structure name, with the graph they belong to and how they came about."""

    graph: str  # name
    fingerprint: str  # of the graph
    splits: Mapping[str, Mapping[str, Queries]]
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, split: str) -> Mapping[str, Queries]:
        if split not in self.splits:
            raise BenchmarkError(f"the benchmark of {self.graph} has no {split} queries, only {', '.join(self.splits)}")
        return self.splits[split]

    @classmethod
    def read(cls, folder: str | Path, kg: KnowledgeGraph, splits: Sequence[str] = SPLITS) -> Benchmark:
        """A folder of any layout; answers that it lacks are found by traversal of `kg`."""
        found = read_folder(folder, splits)
        found.check(kg)
        queries = {
            split: {q.structure.name: _complete(q, kg, split) for q in stored} for split, stored in found.splits.items()
        }
        return cls(kg.name, kg.fingerprint(), queries, {"layout": found.layout, **found.origin})

    def save(
        self,
        folder: str | Path,
        layout: str = "columns",
        *,
        kg: KnowledgeGraph | None = None,
        force: bool = False,
    ) -> Path:
        """Write all queries to a new folder, all or nothing; a layout that holds the graph too needs `kg` for that."""
        _writable(layout).write(self, Path(folder), kg=kg, force=force)
        return Path(folder)


@dataclass(frozen=True, slots=True)
class Folder:
    """What a folder of queries holds, as it lies there."""

    path: Path
    layout: str
    splits: Mapping[str, Sequence[Stored]]
    origin: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str | None = None  # of the graph, where the layout notes it
    notices: Sequence[str] = ()  # what was left out, in sentences
    graph: str | None = None  # its name, likewise

    def check(self, kg: KnowledgeGraph) -> None:
        """Refuse a graph that these queries cannot belong to."""
        if self.fingerprint is not None and self.fingerprint != kg.fingerprint():
            raise BenchmarkError(
                f"{self.path}: these queries belong to a graph with fingerprint {self.fingerprint}, "
                f"but {kg.name!r} has {kg.fingerprint()}"
            )
        for split, stored in self.splits.items():
            if stored and split not in kg.splits:
                raise BenchmarkError(
                    f"{self.path}: has {split} queries, but the graph {kg.name!r} has no {split} split"
                )
            for queries in stored:
                queries.check_range(kg.vocabulary.entity_count, kg.vocabulary.relation_count, f"{self.path}: {split}")


def read_folder(folder: str | Path, splits: Sequence[str] = SPLITS) -> Folder:
    """A folder of queries, in whichever layout it is; only the splits that are asked for."""
    path = Path(folder)
    if not path.is_dir():
        raise BenchmarkError(f"{path}: no such folder")
    for name in plugins.names(LAYOUTS):
        layout = plugins.load(LAYOUTS, name)
        if layout.detect(path):
            return layout.read(path, splits)  # type: ignore[no-any-return]
    known = "; ".join(f"{name}: {plugins.load(LAYOUTS, name).SIGN}" for name in plugins.names(LAYOUTS))
    raise BenchmarkError(f"{path}: holds no queries of a known layout ({known})")


def check_free(folder: str | Path, layout: str = "columns", *, force: bool = False) -> None:
    """Refuse a layout that is not written, or a place where it must not be, before the work of drawing is done."""
    check_target(Path(folder), _writable(layout).MARKER, force=force)


def _writable(layout: str) -> ModuleType:
    module = plugins.load(LAYOUTS, layout)
    if not hasattr(module, "write"):
        raise BenchmarkError(f"the {layout!r} layout can be read but not written")
    return module


def _complete(stored: Stored, kg: KnowledgeGraph, split: str) -> Queries:
    if stored.easy is not None and stored.hard is not None:
        return Queries(stored.structure, stored.ids, stored.easy, stored.hard)
    easy, hard = answer_rows(stored.structure, stored.ids, graph_pair(kg, split))
    return Queries(stored.structure, stored.ids, easy, hard)


def sample_benchmark(
    kg: KnowledgeGraph,
    protocol: Protocol | None = None,
    *,
    splits: Sequence[str] | None = None,
    structures: Mapping[str, tuple[Structure, ...]] | None = None,
    progress: Callable[[str, Structure, int, int], None] | None = None,
) -> Benchmark:
    """Draw a benchmark by the protocol: each split's structures with all easy and hard answers.

    structures: by split, where they differ from the protocol's; progress: called with split, structure, drawn, wanted.
    """
    protocol = protocol or protocol_for(kg)
    drawn: dict[str, dict[str, Queries]] = {}
    for split in splits or tuple(kg.splits):
        graphs = graph_pair(kg, split)
        drawn[split], one_hop = {}, len(links(graphs))
        for structure in structures_of(split, (structures or {}).get(split)):
            wanted = protocol.count(split, structure, one_hop)
            report = None if progress is None else _reporter(progress, split, structure, wanted)
            drawn[split][structure.name] = sample(
                structure,
                graphs,
                wanted,
                seed=protocol.seed,
                stream=split,
                rules=_rules(protocol, split),
                progress=report,
            )
    return Benchmark(kg.name, kg.fingerprint(), drawn, {"drawn": protocol.as_dict()})


def _rules(protocol: Protocol, split: str) -> Rules:
    if split == "train":
        return Rules(limit=protocol.train_limit, link_limit=protocol.train_limit, forward=not protocol.backward)
    return Rules(limit=protocol.limit, link_limit=protocol.link_limit)


def _reporter(
    progress: Callable[[str, Structure, int, int], None], split: str, structure: Structure, wanted: int
) -> Callable[[int], None]:
    return lambda done: progress(split, structure, done, wanted)
