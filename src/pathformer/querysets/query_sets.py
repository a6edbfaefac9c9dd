"""Queries by split and structure, with the graph they belong to: the container that everything shares.

A benchmark, the queries of a run, the held-out queries of a fit and a folder that was read are all `QuerySets`. Answers
of validation queries stand on train against train + valid, those of test queries on train + valid against everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

import numpy as np

from pathformer import plugins
from pathformer.errors import BenchmarkError
from pathformer.files.atomic import check_target
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.splits import SPLITS
from pathformer.querysets.queries import Queries, StoredQueries
from pathformer.symbolic.graph_pair import GraphPair

__all__ = ["QuerySets", "check_output", "graph_pair", "read_folder", "read_query_sets"]

_SMALLER = {"train": None, "valid": "train", "test": "valid"}

Q = TypeVar("Q", Queries, StoredQueries)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySets(Generic[Q]):
    """Queries by split and structure name, and where they came from.

    `QuerySets[Queries]` have all answers; `QuerySets[StoredQueries]` are what a folder holds, which may lack some.
    """

    splits: Mapping[str, Mapping[str, Q]]
    graph: str = ""  # the name of the graph; empty where it is not known
    fingerprint: str | None = None  # of the graph, where it is known
    origin: Mapping[str, Any] = field(default_factory=dict)  # how they were made, as plain values
    sources: Mapping[str, str] = field(default_factory=dict)  # "train 3i" -> where these came from, in a few words
    folder: Path | None = None  # where they were read
    layout: str | None = None  # of that folder
    notices: Sequence[str] = ()  # what was left out when they were read, in sentences

    def __getitem__(self, split: str) -> Mapping[str, Q]:
        if split not in self.splits:
            raise BenchmarkError(f"there are no {split} queries of {self.graph}, only {', '.join(self.splits)}")
        return self.splits[split]

    def check_graph(self: QuerySets[StoredQueries], kg: KnowledgeGraph) -> None:
        """Refuse a graph that these queries cannot belong to."""
        if self.fingerprint is not None and self.fingerprint != kg.fingerprint():
            raise BenchmarkError(
                f"{self.folder}: these queries belong to a graph with fingerprint {self.fingerprint}, "
                f"but {kg.name!r} has {kg.fingerprint()}: name the graph they were drawn from"
            )
        for split, stored in self.splits.items():
            if stored and split not in kg.splits:
                raise BenchmarkError(
                    f"{self.folder}: has {split} queries, but the graph {kg.name!r} has no {split} split: "
                    "name the graph they were drawn from"
                )
            for queries in stored.values():
                queries.check_range(kg.vocabulary.entity_count, kg.vocabulary.relation_count, f"{self.folder}: {split}")

    def only(self, *, train: Sequence[str], other: Sequence[str]) -> QuerySets[Q]:
        """Returns these structures alone: `train` of the training queries, `other` of every other split."""
        wanted = {split: train if split == "train" else other for split in self.splits}
        return replace(
            self,
            splits={split: {name: self.splits[split][name] for name in names} for split, names in wanted.items()},
            sources={f"{split} {name}": self.sources[f"{split} {name}"] for split in wanted for name in wanted[split]},
        )

    def with_split(self, split: str, queries: Mapping[str, Q]) -> QuerySets[Q]:
        """Returns the same sets with one split replaced."""
        return replace(self, splits={**self.splits, split: queries})

    def thin_held_out(self: QuerySets[Queries], count: int, seed: int = 0) -> QuerySets[Queries]:
        """Returns at most `count` queries of each structure, drawn at random; training queries stay."""
        rng = np.random.default_rng(seed)

        def choose(queries: Queries) -> Queries:
            return queries.take(np.sort(rng.permutation(len(queries))[:count]))

        thin = {
            split: queries if split == "train" else {name: choose(part) for name, part in queries.items()}
            for split, queries in self.splits.items()
        }
        return replace(self, splits=thin)

    def describe_sources(self, split: str) -> str:
        """Returns where a split's queries came from, in one phrase."""
        names_of: dict[str, list[str]] = {}
        for part, words in self.sources.items():
            its_split, _, name = part.partition(" ")
            if its_split == split:
                names_of.setdefault(words, []).append(name)
        if len(names_of) == 1:
            return next(iter(names_of))
        return "; ".join(f"{' '.join(names)}: {words}" for words, names in names_of.items())

    def save(
        self: QuerySets[Queries],
        folder: str | Path,
        layout: str = "columns",
        *,
        kg: KnowledgeGraph | None = None,
        force: bool = False,
    ) -> Path:
        """Writes all queries to a new folder, all or nothing; a layout that holds the graph too needs `kg`."""
        _writable(layout).write(self, Path(folder), kg=kg, force=force)
        return Path(folder)


def graph_pair(kg: KnowledgeGraph, split: str) -> GraphPair:
    """Returns the two nested graphs on which the answers of a split's queries stand."""
    smaller = _SMALLER[split]
    if smaller == "valid" and "valid" not in kg.splits:
        smaller = "train"
    return GraphPair.of(kg.graph(split), kg.graph(smaller) if smaller else None)


def read_folder(folder: str | Path, splits: Sequence[str] = SPLITS) -> QuerySets[StoredQueries]:
    """Reads a folder of queries as it is, in any layout; `splits` are the only ones read."""
    path = Path(folder)
    if not path.is_dir():
        raise BenchmarkError(f"{path}: there is no such folder: name one of queries, as `pathformer sample` writes it")
    for name in plugins.names("layouts"):
        layout = plugins.load("layouts", name)
        if layout.detect(path):
            return layout.read(path, splits)  # type: ignore[no-any-return]
    known = "; ".join(f"{name}: {plugins.load('layouts', name).SIGN}" for name in plugins.names("layouts"))
    raise BenchmarkError(f"{path}: holds no queries of a known layout ({known}). `pathformer sample` makes them")


def read_query_sets(folder: str | Path, kg: KnowledgeGraph, splits: Sequence[str] = SPLITS) -> QuerySets[Queries]:
    """Reads a folder of queries in any layout; answers that it lacks are found by traversal of `kg`."""
    stored = read_folder(folder, splits)
    stored.check_graph(kg)
    complete = {
        split: {name: queries.complete(graph_pair(kg, split)) for name, queries in part.items()}
        for split, part in stored.splits.items()
    }
    origin = {"layout": stored.layout, **stored.origin}
    return QuerySets(splits=complete, graph=kg.name, fingerprint=kg.fingerprint(), origin=origin)


def check_output(folder: str | Path, layout: str = "columns", *, force: bool = False) -> None:
    """Refuse a layout that is not written, or a folder that must not be replaced, before any query is drawn."""
    check_target(Path(folder), _writable(layout).MARKER, force=force)


def _writable(layout: str) -> ModuleType:
    module = plugins.load("layouts", layout)
    if not hasattr(module, "write"):
        raise BenchmarkError(f"the {layout!r} layout can be read but not written: leave --layout out")
    return module
