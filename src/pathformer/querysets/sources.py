"""Collects the queries that a run trains on and is evaluated by, from the data folder or by drawing them.

    betae    the released pickles of the dataset's folder. Without them: training queries as released by Query2box,
             which are the same as BetaE's, and evaluation queries from the protocol's draws in the data folder;
             whatever is still missing is drawn by the protocol with seed 0.
    q2b      the released Query2box queries; training queries that are missing are drawn.
    drawn    all queries are drawn by the protocol, for any graph.
    other    a folder of queries in any layout; training queries are drawn if it has none.

`QuerySets.sources` says where each part came from: figures on drawn queries are not figures on released ones. Answers
are found by traversal if a file lacks them.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pathformer.errors import BenchmarkError, DatasetError
from pathformer.files.archives import unpack
from pathformer.kg.datasets import data_folder, locate
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import STRUCTURES, structure
from pathformer.querysets.layouts import betae
from pathformer.querysets.protocol import protocol_for
from pathformer.querysets.queries import Queries, StoredQueries
from pathformer.querysets.query_sets import QuerySets, graph_pair, read_folder
from pathformer.querysets.sampler import sample

__all__ = ["collect_queries"]

_Q2B = {"fb15k-237": ("fb15k-237-q2b", "FB15k-237-q2b"), "nell995": ("nell-q2b", "NELL-q2b")}
_PROTOCOL = {"fb15k-237": "fb15k-237", "nell995": "nell"}


def collect_queries(
    kg: KnowledgeGraph,
    queries: str,
    *,
    trained: Sequence[str],
    evaluated: Sequence[str],
    data: str | Path | None = None,
    splits: Sequence[str] = ("train", "valid", "test"),
) -> QuerySets[Queries]:
    """Collects the queries of a run, those of `splits` only."""
    folder = data_folder(data)
    wanted = {split: tuple(trained if split == "train" else evaluated) for split in splits if split in kg.splits}
    found: dict[tuple[str, str], tuple[Queries, str]] = {}
    for source in _sources(kg, queries, folder):
        for split, names in wanted.items():
            missing = [name for name in names if (split, name) not in found]
            for name, asked, words in source.read(split, missing) if missing else ():
                found[split, name] = asked, words
    return QuerySets(
        splits={split: {name: found[split, name][0] for name in names} for split, names in wanted.items()},
        graph=kg.name,
        sources={f"{split} {name}": found[split, name][1] for split, names in wanted.items() for name in names},
    )


def _sources(kg: KnowledgeGraph, queries: str, data: Path | None) -> list[Any]:
    """Returns the sources in order; the last one draws whatever is still missing."""
    match queries:
        case "drawn":
            found: list[Any] = []
        case "betae":
            own = _own_folder(kg, data)
            if own is not None:
                found = [_Folder(kg, own, "released BetaE queries")]
            else:
                q2b = _q2b_folder(kg, data)
                found = [_Folder(kg, q2b, "released (Query2box, the same as BetaE's)", ("train",))] if q2b else []
                found.append(_ProtocolFiles(kg, data))
        case "q2b":
            q2b = _q2b_folder(kg, data)
            if q2b is None:
                raise DatasetError(
                    f"no Query2box queries of {kg.name!r} under {data or 'a data folder (none is set)'}; "
                    "get them from github.com/hyren/query2box"
                )
            found = [_Folder(kg, q2b, "released Query2box queries")]
        case _:
            found = [_Folder(kg, Path(queries), f"from {queries}")]
    return [*found, _Draws(kg)]


@dataclass(frozen=True)
class _Folder:
    """Reads a folder of queries; answers that it lacks are found by traversal."""

    kg: KnowledgeGraph
    path: Path
    words: str
    splits: tuple[str, ...] = ("train", "valid", "test")

    @cached_property
    def stored(self) -> QuerySets[StoredQueries]:
        """The queries of the folder, read once."""
        stored = read_folder(self.path)
        stored.check_graph(self.kg)
        return stored

    def read(self, split: str, names: Sequence[str]) -> Iterator[tuple[str, Queries, str]]:
        if split not in self.splits:
            return
        for name, queries in self.stored.splits.get(split, {}).items():
            if name in names:
                yield name, queries.complete(graph_pair(self.kg, split)), self.words


@dataclass(frozen=True)
class _ProtocolFiles:
    """Reads evaluation queries that the protocol drew earlier: each line is `[structure, instance]`."""

    kg: KnowledgeGraph
    data: Path | None

    def read(self, split: str, names: Sequence[str]) -> Iterator[tuple[str, Queries, str]]:
        prefix = _PROTOCOL.get(self.kg.name)
        if prefix is None or self.data is None:
            return
        file = self.data / "betae-protocol" / f"{prefix}-{split}-queries.jsonl.xz"
        if not file.is_file():
            return
        rows: dict[str, list[list[int]]] = {name: [] for name in names}
        for name, instance in _lines(file):
            if name in rows:
                rows[name].append([value for value in _flat(instance) if value >= 0])
        for name, table in rows.items():
            if table:
                queries = StoredQueries(STRUCTURES[name], np.array(table, np.int32))
                complete = queries.complete(graph_pair(self.kg, split))
                yield name, complete, "betae-protocol draw, not the released queries"


@dataclass(frozen=True)
class _Draws:
    """Draws queries by the protocol with seed 0."""

    kg: KnowledgeGraph

    def read(self, split: str, names: Sequence[str]) -> Iterator[tuple[str, Queries, str]]:
        protocol = protocol_for(self.kg)
        graphs = graph_pair(self.kg, split)
        pairs = len(self.kg.graph("train").pair_relation)
        for name in names:
            shape = structure(name)
            count = protocol.count(split, shape, pairs)
            drawn = sample(shape, graphs, count, seed=protocol.seed, stream=split, rules=protocol.rules(split))
            if len(drawn):
                yield name, drawn, f"drawn by the protocol, seed {protocol.seed}"
            else:
                raise BenchmarkError(
                    f"no {split} query of {name} could be drawn from {self.kg.name!r}: it is too small"
                )


def _own_folder(kg: KnowledgeGraph, data: Path | None) -> Path | None:
    """Returns the dataset's own folder if it holds released queries."""
    try:
        folder = locate(kg.name, data)
    except DatasetError:
        return None
    return folder if folder.is_dir() and betae.detect(folder) else None


def _q2b_folder(kg: KnowledgeGraph, data: Path | None) -> Path | None:
    """Returns the folder of the dataset's Query2box queries, unpacked if needed."""
    if data is None:
        return None
    for name in _Q2B.get(kg.name, ()):
        if (data / name).is_dir():
            return data / name
        if (data / f"{name}.tar.xz").is_file():
            return unpack(data / f"{name}.tar.xz")
    return None


def _lines(file: Path) -> Iterator[tuple[str, Any]]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                name, instance = json.loads(line)
            except ValueError as error:
                raise BenchmarkError(f"{file}:{number}: expected [structure, instance] ({error})") from error
            yield name, instance


def _flat(node: Any) -> list[int]:
    return [value for part in node for value in _flat(part)] if isinstance(node, list) else [node]
