"""Graphs by name, one file each; the folder is the registry.

A dataset is a module with a `DATASET`. All but the bundled one lie in a data folder (`--data`, `$PATHFORMER_DATA`) that
the user fills; nothing is downloaded.
"""

from __future__ import annotations

from pathlib import Path

from pathformer import plugins
from pathformer.errors import DatasetError, closest
from pathformer.kg.datasets._dataset import Dataset, data_folder
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.pipes import is_pipe

__all__ = ["Dataset", "data_folder", "datasets", "load", "locate"]


def datasets() -> dict[str, Dataset]:
    """Every known dataset by name."""
    return {name: plugins.load(__name__, name).DATASET for name in plugins.names(__name__)}


def load(name_or_path: str | Path, data: str | Path | None = None) -> KnowledgeGraph:
    """A graph by known name, else by path: a saved graph, a BetaE folder, a folder of splits or a file of triples.

    A folder that is called like a known dataset is meant when a path is written: `./umls`.
    """
    name = str(name_or_path)
    if isinstance(name_or_path, str) and name in plugins.names(__name__):
        dataset: Dataset = plugins.load(__name__, name).DATASET
        return dataset.load(name, data_folder(data))
    return KnowledgeGraph.read(_path(name_or_path))


def locate(name_or_path: str | Path, data: str | Path | None = None) -> Path:
    """The folder of a dataset by known name (unpacked from its archive if need be), else the path itself."""
    name = str(name_or_path)
    if isinstance(name_or_path, str) and name in plugins.names(__name__):
        dataset: Dataset = plugins.load(__name__, name).DATASET
        return dataset.folder(name, data_folder(data))
    return _path(name_or_path)


def _path(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.exists() or is_pipe(path):
        return path
    known = plugins.names(__name__)
    near = closest(str(name_or_path), known)
    hint = f"closest: {', '.join(map(repr, near))}" if near else f"the known ones are {', '.join(known)}"
    raise DatasetError(f"no file or folder {str(name_or_path)!r}, and no dataset of that name; {hint}")
