"""A knowledge graph: names, triples by split, and their index."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError
from pathformer.kg.graph import Graph
from pathformer.kg.names import Labelled, labels_of
from pathformer.kg.restatements import Restatement, find_restatements
from pathformer.kg.splits import SPLITS, Report
from pathformer.kg.vocabulary import Vocabulary
from pathformer.text import counted

__all__ = ["KnowledgeGraph"]

Triples = npt.NDArray[np.int32]
Paths = str | Path | Sequence[str | Path] | Mapping[str, str | Path | Sequence[str | Path]]


class KnowledgeGraph:
    """A knowledge graph: a vocabulary and the triples (n, 3) of each split: head, even directed relation, tail.

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
        self._restatements: tuple[Restatement, ...] | None = None
        self._fingerprint = fingerprint

    @classmethod
    def read(
        cls,
        paths: Paths,
        *,
        name: str | None = None,
        format: str | None = None,
        columns: Sequence[str | int] | None = None,
        header: bool | None = None,
        delimiter: str | None = None,
        quote: str | None = None,
        encoding: str = "utf-8",
        names: str | Path | None = None,
        names_columns: Sequence[str | int] | None = None,
        relation_names: str | Path | None = None,
        literals: bool = False,
        skip_bad: bool = False,
        progress: bool = False,
    ) -> KnowledgeGraph:
        """A graph from files: one, several, one a split, or a folder.

        paths: TSV, CSV, Parquet, N-Triples or Turtle, packed (gzip, xz, zstd, bzip2) or not; several files make one
            graph, files called train, valid and test are its splits, and so are the keys of a mapping; a folder is a
            saved graph, a BetaE folder, or holds files called so. A pipe is read as well, `-` is the standard input.
        name: what the graph is called; otherwise as its file or folder is.
        format: the format's name, where the file's ending does not tell it.
        columns: head, relation and tail: names of a header, or numbers counted from 1.
        header: whether the first line is one; None: it is if it holds well-known words (subject, predicate, object).
        delimiter, quote, encoding: of delimited text; quote "" for none; the encoding is that of labels, too.
        names, relation_names: files of labels, a name and a label a line; names_columns: which two columns.
        literals: keep RDF literals as entities instead of leaving them out.
        skip_bad: leave bad lines out and count them in `report`, instead of stopping at the first.
        progress: show a progress bar.
        """
        from pathformer.files.progress import reading
        from pathformer.kg.formats._registry import ReadOptions
        from pathformer.kg.labels import add_labels
        from pathformer.kg.read import read_graph, sources

        found = sources(paths)
        with reading(found, progress) as advance:
            options = ReadOptions(
                columns=None if columns is None else tuple(columns),
                header=header,
                delimiter=delimiter,
                quote=quote,
                encoding=encoding,
                literals=literals,
                skip_bad=skip_bad,
                advance=advance,
            )
            graph = read_graph(found, options, name=None if name is None else _name(name), format=format)
        return add_labels(
            graph,
            names=None if names is None else Path(names),
            columns=None if names_columns is None else tuple(names_columns),
            relation_names=None if relation_names is None else Path(relation_names),
            encoding=encoding,
        )

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
        from pathformer.kg.build import batches_of, build

        parts = {"train": batches_of(triples, "train")}
        parts |= {s: batches_of(part, s) for s, part in (("valid", valid), ("test", test)) if part is not None}
        return build(_name(name), parts)

    @classmethod
    def from_table(
        cls, table: Any, *, columns: Sequence[str | int] | None = None, name: str = "graph", skip_bad: bool = False
    ) -> KnowledgeGraph:
        """A graph of a table: Arrow's, or any that speaks the Arrow stream interface (polars, pandas, DuckDB, ...)."""
        import pyarrow as pa

        from pathformer.kg.build import build
        from pathformer.kg.formats._registry import ReadOptions
        from pathformer.kg.formats._tables import chosen_columns, read_table

        if not hasattr(table, "__arrow_c_stream__"):
            raise InputError(f"a {type(table).__name__} is no table: expected one with the Arrow stream interface")
        try:
            stream = pa.RecordBatchReader.from_stream(table)
        except pa.ArrowException as error:  # a column of values of several types, for one
            raise InputError(f"the {type(table).__name__} cannot be read as Arrow's ({error})") from error
        options = ReadOptions(columns=None if columns is None else tuple(columns), skip_bad=skip_bad)
        chosen = chosen_columns(stream.schema, options, Path(name))
        return build(_name(name), {"train": read_table(stream, chosen, options, Path(name))})

    def to_table(self, split: str | None = None) -> Any:
        """The triples of one split, or of all, as an Arrow table of names: head, relation, tail."""
        from pathformer.kg.arrow import table_of

        chosen = list(self.splits.values()) if split is None else [self.splits[self._check_split(split)]]
        return table_of(np.concatenate(chosen), self.vocabulary)

    def split(self, valid: float = 0.1, test: float = 0.1, *, seed: int = 0) -> KnowledgeGraph:
        """All triples divided anew into train, valid and test (fractions), so that train keeps every name."""
        from pathformer.kg.holdout import hold_out

        return hold_out(self, valid, test, seed=seed)

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
        split = self._check_split(split or list(self.splits)[-1])
        if split not in self._graphs:
            self._graphs[split] = self._saved_graphs[split]() if split in self._saved_graphs else self._index(split)
        return self._graphs[split]

    def keep_open(self) -> KnowledgeGraph:
        """Returns the graph with all its files open, so that its folder may be replaced."""
        for split in self.splits:
            self.graph(split)
        self.vocabulary.hold()
        return self

    def with_labels(self, labels: Labelled | None, relation_labels: Labelled | None = None) -> KnowledgeGraph:
        """Returns the graph with these labels alone: by name, or one for each name in order, empty for no label."""
        old = self.vocabulary
        own, related = labels_of(labels, old.entities, "entity"), labels_of(relation_labels, old.relations, "relation")
        vocabulary = Vocabulary(old.entities, old.relations, own, related, fingerprint=old.fingerprint())
        count = 0 if own is None else int(np.count_nonzero(np.diff(own.buffers[0])))
        kept = self.report.literal_labels if own is old.labels else 0
        report = replace(self.report, labels=count, literal_labels=kept)
        graph = KnowledgeGraph(self.name, vocabulary, self.splits, report=report)
        graph._saved_graphs, graph._graphs, graph._fingerprint = self._saved_graphs, self._graphs, self._fingerprint
        return graph

    def restatements(self) -> tuple[Restatement, ...]:
        """The relations that restate another, by the triples of all splits; those with the most facts first."""
        if self._restatements is None:
            sizes = self.vocabulary.entity_count, self.vocabulary.relation_count
            self._restatements = find_restatements(np.concatenate(list(self.splits.values())), *sizes)
        return self._restatements

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
        entities = counted(self.vocabulary.entity_count, "entity", "entities")
        relations = counted(len(self.vocabulary.relations), "relation")
        triples = "triple" if self.triple_count == 1 else "triples"
        return f"<KnowledgeGraph {self.name!r}: {entities}, {relations}, {sizes} {triples}>"

    def _check_split(self, split: str) -> str:
        if split not in self.splits:
            raise InputError(f"the graph {self.name!r} has no {split!r} triples, only {', '.join(self.splits)}")
        return split

    def _index(self, split: str) -> Graph:
        parts = [self.splits[s] for s in SPLITS[: SPLITS.index(split) + 1] if s in self.splits]
        triples = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return Graph.from_triples(triples, self.vocabulary.entity_count, self.vocabulary.relation_count)


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise InputError(f"a graph is called by a text, not by {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"a graph cannot be called {ascii(name)[:80]}: that is no text in UTF-8") from None
    return name
