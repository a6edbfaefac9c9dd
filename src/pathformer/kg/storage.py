"""A graph on disk: plain files that are mapped, not read, when the graph is opened.

```
manifest.json                     sizes and checksums (`files.manifest`)
graph.json                        version, name, counts, fingerprints, what the reader met
entities.arrow relations.arrow    Arrow IPC: name, and label where there are any
lookup/{hashes,ids}.npy           entity names by hash (`names`)
triples/{train,valid,test}.npy    (n, 3) int32: head, relation, tail, in order
index/{train,valid,test}/*.npy    the CSR of that split and all before it (`graph`)
```
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pathformer.errors import GraphFileError
from pathformer.files.atomic import check_target, new_folder
from pathformer.files.fields import wrong_field
from pathformer.files.saved import Saved, holds, open_save
from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.names import Buffers, Names
from pathformer.kg.splits import Report
from pathformer.kg.vocabulary import Vocabulary

__all__ = ["check_free", "is_saved", "open_graph", "save_graph"]

_HEADER = "graph.json"
_VERSION = 1
_ARRAYS = ("head_ptr", "pair_relation", "pair_ptr", "tails")
_COUNTS = frozenset(field.name for field in fields(Report)) - {"notes"}
_FIELDS = {
    "name": "text",
    "entities": "a count",
    "relations": "a count",
    "labels": "true or false",
    "relation_labels": "true or false",
    "splits": "an object of counts",
    "vocabulary": "text",
    "fingerprint": "text",
    "report": "an object",
}


Part = TypeVar("Part")


def is_saved(folder: Path) -> bool:
    """Whether a folder holds a saved graph."""
    return (folder / _HEADER).is_file()


def check_free(folder: Path, *, force: bool = False) -> None:
    """Refuses a folder where a graph must not be saved, before a graph is read."""
    check_target(folder, _HEADER, force=force)


def save_graph(graph: KnowledgeGraph, folder: Path, *, force: bool = False) -> Path:
    """Write a graph to a new folder, all or nothing."""
    with new_folder(folder, _HEADER, kind="graph", force=force) as target:
        vocabulary = graph.vocabulary
        _write_names(target / "entities.arrow", vocabulary.entities, vocabulary.labels)
        _write_names(target / "relations.arrow", vocabulary.relations, vocabulary.relation_labels)
        hashes, ids = vocabulary.entities.index
        _write(target / "lookup" / "hashes.npy", hashes)
        _write(target / "lookup" / "ids.npy", ids)
        for split, triples in graph.splits.items():
            _write(target / "triples" / f"{split}.npy", triples)
            index = graph.graph(split)
            for name in _ARRAYS:
                _write(target / "index" / split / f"{name}.npy", getattr(index, name))
        (target / _HEADER).write_text(json.dumps(_header(graph), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return folder


def open_graph(folder: Path, saved: Saved | None = None) -> KnowledgeGraph:
    """Opens a saved graph; names and indexes are mapped when first used, if the graph still lies there then.

    saved: of the engine that it is a part of, which was checked with the rest.
    """
    if saved is None and not holds(folder, "graph"):
        _read_header(folder)  # says what a folder holds that is no saved graph
    return _open(saved) if saved is not None else open_save(folder, "graph", _open)


def _open(saved: Saved) -> KnowledgeGraph:
    header = _read_header(saved.folder)

    def names(file: str, column: str, index: Callable[[], Any] | None = None) -> Names:
        return Names(header[file], same(lambda: _read_names(saved, f"{file}.arrow", column, header[file])), index)

    def same(load: Callable[[], Part]) -> Callable[[], Part]:
        """Refuses to load a part after another graph took the folder's place: parts of two make wrong answers."""

        def checked() -> Part:
            try:
                return load()
            finally:  # what fails may fail for that reason
                if not saved.is_current():
                    raise GraphFileError("another graph took its place after it was opened: open it anew", saved.folder)

        return checked

    vocabulary = Vocabulary(
        names("entities", "name", same(lambda: _lookup(saved, header["entities"]))),
        names("relations", "name"),
        names("entities", "label") if header["labels"] else None,
        names("relations", "label") if header["relation_labels"] else None,
        fingerprint=header["vocabulary"],
    )
    counts = header["splits"]
    splits = same(lambda: {s: saved.array(f"triples/{s}.npy", (counts[s], 3), "i4") for s in counts})()
    return KnowledgeGraph(
        header["name"],
        vocabulary,
        splits if saved.whole else _CheckedSplits(saved, splits, vocabulary),
        report=_report(header["report"]),
        graphs={split: same(_index_opener(saved, split, vocabulary)) for split in splits},
        fingerprint=header["fingerprint"],
    )


def _header(graph: KnowledgeGraph) -> dict[str, Any]:
    vocabulary = graph.vocabulary
    return {
        "format": "pathformer graph",
        "version": _VERSION,
        "name": graph.name,
        "entities": vocabulary.entity_count,
        "relations": len(vocabulary.relations),
        "labels": vocabulary.labels is not None,
        "relation_labels": vocabulary.relation_labels is not None,
        "splits": {split: len(triples) for split, triples in graph.splits.items()},
        "vocabulary": vocabulary.fingerprint(),
        "fingerprint": graph.fingerprint(),
        "report": {field.name: getattr(graph.report, field.name) for field in fields(Report)},
    }


def _read_header(folder: Path) -> dict[str, Any]:
    path = folder / _HEADER
    try:
        header = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise GraphFileError(f"not a saved graph: {_HEADER} cannot be read ({error.strerror})", folder) from error
    except ValueError as error:
        raise GraphFileError(f"not the header of a saved graph ({error})", path) from error
    if not isinstance(header, dict) or header.get("format") != "pathformer graph":
        raise GraphFileError("not the header of a saved graph", path)
    if header.get("version") != _VERSION:
        found = header.get("version")
        raise GraphFileError(f"version {found!r}, expected {_VERSION}: import the graph again with this version", path)
    if problem := wrong_field(header, _FIELDS) or wrong_field(header["splits"], {"train": "a count"}):
        raise GraphFileError(f"the header of the saved graph is damaged: {problem}", path)
    return header


def _report(told: dict[str, Any]) -> Report:
    """Reads the report of a reading from a header, as far as it can be understood."""
    counts = {name: told[name] for name in told if name in _COUNTS and wrong_field(told, {name: "a count"}) is None}
    notes = told.get("notes")
    return Report(**counts, notes=tuple(map(str, notes)) if isinstance(notes, list) else ())


def _write(path: Path, array: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)


def _lookup(saved: Saved, count: int) -> tuple[Any, Any]:
    hashes, ids = saved.array("lookup/hashes.npy", (count,), "u8"), saved.array("lookup/ids.npy", (count,), "i4")
    if not saved.whole:
        _check_range(saved, "lookup/ids.npy", ids, count)
    return hashes, ids


def _index_opener(saved: Saved, split: str, vocabulary: Vocabulary) -> Callable[[], Graph]:
    def load() -> Graph:
        entities, relations = vocabulary.entity_count, vocabulary.relation_count
        files = {name: f"index/{split}/{name}.npy" for name in _ARRAYS}
        heads = saved.array(files["head_ptr"], (entities + 1,), "i8")
        pair_relation = saved.array(files["pair_relation"], kind="i4")
        pair_ptr = saved.array(files["pair_ptr"], (len(pair_relation) + 1,), "i8")
        tails = saved.array(files["tails"], kind="i4")
        if not saved.whole:
            _check_pointers(saved, files["head_ptr"], heads, len(pair_relation))
            _check_pointers(saved, files["pair_ptr"], pair_ptr, len(tails))
            _check_range(saved, files["pair_relation"], pair_relation, relations)
            _check_range(saved, files["tails"], tails, entities)
        return Graph(entities, relations, heads, pair_relation, pair_ptr, tails)

    return load


class _CheckedSplits(Mapping[str, Any]):
    """The triples of a graph that opening has not read: their ids are checked when a split is first used."""

    def __init__(self, saved: Saved, splits: Mapping[str, Any], vocabulary: Vocabulary) -> None:
        self._saved, self._splits, self._checked = saved, splits, set[str]()
        self._counts = (vocabulary.entity_count, vocabulary.relation_count, vocabulary.entity_count)

    def __getitem__(self, split: str) -> Any:
        triples = self._splits[split]
        if split not in self._checked:
            for column, count in enumerate(self._counts):
                _check_range(self._saved, f"triples/{split}.npy", triples[:, column], count)
            self._checked.add(split)
        return triples

    def __iter__(self) -> Iterator[str]:
        return iter(self._splits)

    def __len__(self) -> int:
        return len(self._splits)


def _check_pointers(saved: Saved, file: str, pointers: Any, last: int) -> None:
    """Refuses pointers that lead out of what they point into."""
    if pointers[0] != 0 or pointers[-1] != last or bool((pointers[1:] < pointers[:-1]).any()):
        raise saved.damaged(file, "holds pointers that do not rise to their end")


def _check_range(saved: Saved, file: str, ids: Any, count: int) -> None:
    """Refuses ids that the graph does not have."""
    if len(ids) and not (ids.min() >= 0 and ids.max() < count):
        raise saved.damaged(file, f"holds ids outside of 0 to {count - 1}")


def _write_names(path: Path, names: Names, labels: Names | None) -> None:
    import pyarrow as pa

    from pathformer.kg.arrow import array_of

    columns = {"name": array_of(names)} | ({"label": array_of(labels)} if labels is not None else {})
    table = pa.table(columns)
    with pa.OSFile(os.fsencode(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _read_names(saved: Saved, file: str, column: str, count: int) -> Buffers:
    import pyarrow as pa

    from pathformer.kg.arrow import buffers_of

    try:
        table = pa.ipc.open_file(pa.memory_map(os.fsencode(saved.folder / file))).read_all()
        if not saved.whole:
            table.validate(full=True)
        names = table.column(column).combine_chunks()
        if len(names) != count:
            raise saved.damaged(file, f"holds {len(names):,} names, expected {count:,}")
        return buffers_of(names)
    except (OSError, KeyError, pa.ArrowException) as error:
        problem = str(error).partition("\n")[0]
        raise saved.damaged(file, f"cannot be read ({problem})") from error
