"""A knowledge graph: names, triples by split, and their index."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError
from pathformer.kg.graph import Graph
from pathformer.kg.report import Report
from pathformer.kg.splits import SPLITS
from pathformer.kg.vocab import Vocabulary

__all__ = ["KnowledgeGraph"]

Triples = npt.NDArray[np.int32]


class KnowledgeGraph:
    """What is known: a vocabulary and the triples (n, 3) of each split: head, even directed relation, tail.

    A graph that was never split has only "train". `report` tells what the reader merged, dropped and skipped.
    """

    def __init__(
        self,
        name: str,
        vocabulary: Vocabulary,
        splits: Mapping[str, Triples],
        *,
        report: Report | None = None,
        graphs: Mapping[str, Callable[[], Graph]] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        self.name, self.vocabulary, self.report = name, vocabulary, report or Report()
        self.splits: Mapping[str, Triples] = MappingProxyType({s: splits[s] for s in SPLITS if s in splits})
        self._saved_graphs = dict(graphs or {})
        self._graphs: dict[str, Graph] = {}
        self._fingerprint = fingerprint

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[tuple[str, str, str]],
        valid: Iterable[tuple[str, str, str]] | None = None,
        test: Iterable[tuple[str, str, str]] | None = None,
        *,
        name: str = "graph",
    ) -> KnowledgeGraph:
        """A graph of Python tuples (head, relation, tail); ids follow the order in which names first appear."""
        from pathformer.kg.intern import intern_triples

        given = {"train": triples, "valid": valid, "test": test}
        return intern_triples(name, {split: part for split, part in given.items() if part is not None})

    @classmethod
    def open(cls, folder: str | Path) -> KnowledgeGraph:
        """A saved graph, memory-mapped."""
        from pathformer.kg.storage import open_graph

        return open_graph(Path(folder))

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the graph to a new folder, all or nothing; an existing one is refused, or replaced with `force`."""
        from pathformer.kg.storage import save_graph

        return save_graph(self, Path(folder), force=force)

    def graph(self, split: str | None = None) -> Graph:
        """The index of a split and all before it (train ⊆ valid ⊆ test); of everything when no split is named."""
        split = split or next(reversed(self.splits))
        if split not in self.splits:
            raise InputError(f"the graph {self.name!r} has no {split!r} triples, only {', '.join(self.splits)}")
        if split not in self._graphs:
            self._graphs[split] = self._saved_graphs[split]() if split in self._saved_graphs else self._index(split)
        return self._graphs[split]

    @property
    def triple_count(self) -> int:
        """Triples of all splits, each counted once, in one direction."""
        return sum(map(len, self.splits.values()))

    def fingerprint(self) -> str:
        """A digest of names and triples: the same one means the same graph."""
        if self._fingerprint is None:
            digest = hashlib.blake2b(self.vocabulary.fingerprint().encode(), digest_size=16)
            for split, triples in self.splits.items():
                digest.update(f"{split} {len(triples)}".encode())
                digest.update(np.ascontiguousarray(triples, "<i4").data)
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def __repr__(self) -> str:
        sizes = ", ".join(f"{split} {len(triples):,}" for split, triples in self.splits.items())
        entities, relations = self.vocabulary.entity_count, len(self.vocabulary.relations)
        return f"<KnowledgeGraph {self.name!r}: {entities:,} entities, {relations:,} relations, {sizes} triples>"

    def _index(self, split: str) -> Graph:
        parts = [self.splits[s] for s in SPLITS[: SPLITS.index(split) + 1] if s in self.splits]
        triples = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return Graph.from_triples(triples, self.vocabulary.entity_count, self.vocabulary.relation_count)
