"""Our own layout: one npz of plain integer columns for each split and structure, and a JSON page of contents.

manifest.json      sizes and checksums (`files.manifest`)
benchmark.json     format, graph, fingerprint, origin, and for each file its split, structure, shape and count
test-2in.npz       ids (n, k), easy_ptr (n + 1), easy (..), hard_ptr (n + 1), hard (..)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pathformer.errors import BenchmarkError, QueryError
from pathformer.files.arrays import read_npz
from pathformer.files.atomic import new_folder
from pathformer.files.fields import wrong_field
from pathformer.files.manifest import NAME
from pathformer.files.saved import Saved, open_save
from pathformer.kg.ragged import Ragged
from pathformer.query.structures import STRUCTURES, shape_text, structure
from pathformer.querysets.queries import Queries, StoredQueries

if TYPE_CHECKING:
    from pathformer.kg.knowledge import KnowledgeGraph
    from pathformer.querysets.query_sets import QuerySets

__all__ = ["MARKER", "SIGN", "detect", "read", "write"]

SIGN = "benchmark.json beside .npz files"
MARKER = "benchmark.json"
FORMAT, VERSION = "pathformer queries", 1
_FIELDS = {"graph": "text", "fingerprint": "text", "origin": "an object", "files": "a list of objects"}
_ENTRY = {"file": "text", "split": "text", "shape": "text"}


def detect(path: Path) -> bool:
    """Whether the folder is in this layout."""
    return (path / MARKER).is_file()


def write(sets: QuerySets[Queries], path: Path, *, kg: KnowledgeGraph | None = None, force: bool = False) -> None:
    """Writes queries to a new folder, all or nothing; the graph is named, not written."""
    with new_folder(path, MARKER, kind="queries", force=force) as folder:
        files = []
        for split, queries_of in sets.splits.items():
            for position, (name, queries) in enumerate(queries_of.items()):
                file = f"{split}-{name if name in STRUCTURES else f'shape-{position}'}.npz"
                np.savez(
                    folder / file,
                    ids=queries.ids,
                    easy_ptr=queries.easy.ptr,
                    easy=queries.easy.values,
                    hard_ptr=queries.hard.ptr,
                    hard=queries.hard.values,
                )
                shape = shape_text(queries.structure.shape)
                files.append({"file": file, "split": split, "structure": name, "shape": shape, "queries": len(queries)})
        header = {
            "format": FORMAT,
            "version": VERSION,
            "graph": sets.graph,
            "fingerprint": sets.fingerprint,
            "origin": dict(sets.sources),
            "files": files,
        }
        (folder / MARKER).write_text(json.dumps(header, indent=2) + "\n", encoding="utf-8")


def read(path: Path, splits: Sequence[str]) -> QuerySets[StoredQueries]:
    """Reads these splits of the folder."""
    if not (path / NAME).is_file():
        _header(path / MARKER)  # says what is wrong with a page of contents that somebody else wrote
    return open_save(path, "queries", lambda saved: _read(saved, splits))


def _read(saved: Saved, splits: Sequence[str]) -> QuerySets[StoredQueries]:
    from pathformer.querysets.query_sets import QuerySets

    path = saved.folder
    header = _header(path / MARKER)
    found: dict[str, dict[str, StoredQueries]] = {}
    for entry in header["files"]:
        if entry["split"] in splits:
            if not saved.has(entry["file"]):
                raise saved.damaged(MARKER, f"names the file {entry['file'][:80]!r}, which was not saved with it")
            saved.check(entry["file"])
            stored = _queries(path / entry["file"], entry["shape"])
            found.setdefault(entry["split"], {})[stored.structure.name] = stored
    return QuerySets(
        splits=found,
        graph=header["graph"],
        fingerprint=header["fingerprint"],
        origin=header["origin"],
        folder=path,
        layout="columns",
    )


def _header(file: Path) -> dict[str, Any]:
    try:
        header = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BenchmarkError(f"{file}: not valid JSON ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BenchmarkError(f"{file}: not a page of contents of {FORMAT!r}")
    if header.get("version") != VERSION:
        raise BenchmarkError(f"{file}: version {header.get('version')} is not the {VERSION} this release reads")
    problems = (wrong_field(header, _FIELDS), *(wrong_field(entry, _ENTRY) for entry in _objects(header.get("files"))))
    if problem := next(filter(None, problems), None):
        raise BenchmarkError(f"{file}: the page of contents is damaged: {problem}")
    return header


def _objects(entries: Any) -> list[dict[str, Any]]:
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _queries(file: Path, shape: str) -> StoredQueries:
    try:
        with file.open("rb") as stream:
            arrays = read_npz(stream)
            kind, ids = structure(shape), arrays["ids"]
            if ids.ndim != 2 or ids.shape[1] != len(kind.columns) or ids.dtype.kind != "i":
                raise ValueError(f"ids of shape {ids.shape}, {ids.dtype}, expected (any, {len(kind.columns)}), int32")
            return StoredQueries(kind, ids, _rows(arrays, "easy", len(ids)), _rows(arrays, "hard", len(ids)))
    except (OSError, KeyError, ValueError, QueryError) as error:
        problem = str(error).partition("\n")[0]
        raise BenchmarkError(f"{file}: cannot be read as a table of queries ({problem})") from error


def _rows(arrays: Mapping[str, Any], name: str, count: int) -> Ragged:
    """Reads the answers of `count` queries."""
    ptr, values = arrays[f"{name}_ptr"], arrays[name]
    if values.ndim != 1 or {ptr.dtype.kind, values.dtype.kind} != {"i"}:
        raise ValueError(f"the {name} answers are not whole numbers in a row")
    if ptr.shape != (count + 1,) or ptr[0] != 0 or ptr[-1] != len(values) or np.any(np.diff(ptr) < 0):
        raise ValueError(f"the {name} answers do not fit the {count:,} queries")
    return Ragged(ptr, values)
