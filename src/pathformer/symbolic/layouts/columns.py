"""Our own layout: one npz of plain integer columns for each split and structure, and a JSON page of contents.

benchmark.json     format, graph, fingerprint, origin, and for each file its split, structure, shape and count
test-2in.npz       ids (n, k), easy_ptr (n + 1), easy (..), hard_ptr (n + 1), hard (..)
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pathformer.errors import BenchmarkError
from pathformer.kg.atomic import new_folder
from pathformer.query.structures import STRUCTURES, shape_text, structure
from pathformer.symbolic.queries import Ragged, Stored

if TYPE_CHECKING:
    from pathformer.kg import KnowledgeGraph
    from pathformer.symbolic.benchmark import Benchmark, Folder

__all__ = ["SIGN", "detect", "read", "write"]

SIGN = "benchmark.json beside .npz files"
FORMAT, VERSION = "pathformer queries", 1


def detect(path: Path) -> bool:
    """Whether the folder is in this layout."""
    return (path / "benchmark.json").is_file()


def write(benchmark: Benchmark, path: Path, *, kg: KnowledgeGraph | None = None, force: bool = False) -> None:
    """Write a benchmark to a new folder, all or nothing; the graph is named, not written."""
    with new_folder(path, "benchmark.json", force=force) as folder:
        files = []
        for split, queries_of in benchmark.splits.items():
            for place, (name, queries) in enumerate(queries_of.items()):
                file = f"{split}-{name if name in STRUCTURES else f'shape-{place}'}.npz"
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
            "graph": benchmark.graph,
            "fingerprint": benchmark.fingerprint,
            "origin": dict(benchmark.origin),
            "files": files,
        }
        (folder / "benchmark.json").write_text(json.dumps(header, indent=2) + "\n", encoding="utf-8")


def read(path: Path, splits: Sequence[str]) -> Folder:
    """Read these splits of the folder."""
    from pathformer.symbolic.benchmark import Folder

    header = _header(path / "benchmark.json")
    found: dict[str, list[Stored]] = {}
    for entry in header["files"]:
        if entry["split"] in splits:
            found.setdefault(entry["split"], []).append(_queries(path / entry["file"], entry["shape"]))
    return Folder(path, "columns", found, header["origin"], header["fingerprint"], graph=header["graph"])


def _header(file: Path) -> dict[str, Any]:
    try:
        header = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BenchmarkError(f"{file}: not valid JSON ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BenchmarkError(f"{file}: not a page of contents of {FORMAT!r}")
    if header.get("version") != VERSION:
        raise BenchmarkError(f"{file}: version {header.get('version')} is not the {VERSION} this release reads")
    return header


def _queries(file: Path, shape: str) -> Stored:
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            easy = Ragged(arrays["easy_ptr"], arrays["easy"])
            hard = Ragged(arrays["hard_ptr"], arrays["hard"])
            return Stored(structure(shape), arrays["ids"], easy, hard)
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise BenchmarkError(f"{file}: cannot be read as a table of queries ({error})") from error
