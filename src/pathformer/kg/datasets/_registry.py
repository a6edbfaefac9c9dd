"""Graphs by name, one file each; the folder is the registry.

A dataset is a module with a `DATASET`. All but the bundled one lie in a data folder (`--data`, `$PATHFORMER_DATA`) that
the user fills; nothing is downloaded.

A graph that has a name: where it lies, where to get it, and how large it is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pathformer import plugins
from pathformer.errors import DatasetError, closest
from pathformer.files.archives import ARCHIVE_SUFFIXES, unpacked
from pathformer.files.source import is_pipe
from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["Dataset", "data_folder", "datasets", "load", "locate"]

_PACKAGE = "pathformer.kg.datasets"


def datasets() -> dict[str, Dataset]:
    """Every known dataset by name."""
    return {name: plugins.load(_PACKAGE, name).DATASET for name in plugins.names(_PACKAGE)}


def load(name_or_path: str | Path, data: str | Path | None = None) -> KnowledgeGraph:
    """A graph by known name, else by path: a saved graph, a BetaE folder, a folder of splits or a file of triples.

    A folder that is called like a known dataset is meant when a path is written: `./umls`.
    """
    name = str(name_or_path)
    if isinstance(name_or_path, str) and name in plugins.names(_PACKAGE):
        dataset: Dataset = plugins.load(_PACKAGE, name).DATASET
        return dataset.load(name, data_folder(data))
    return KnowledgeGraph.read(_path(name_or_path))


def locate(name_or_path: str | Path, data: str | Path | None = None) -> Path:
    """The folder of a dataset by known name (unpacked from its archive if need be), else the path itself."""
    name = str(name_or_path)
    if isinstance(name_or_path, str) and name in plugins.names(_PACKAGE):
        dataset: Dataset = plugins.load(_PACKAGE, name).DATASET
        return dataset.folder(name, data_folder(data))
    return _path(name_or_path)


def _path(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.exists() or is_pipe(path):
        return path
    known = plugins.names(_PACKAGE)
    near = closest(str(name_or_path), known)
    hint = f"closest: {', '.join(map(repr, near))}" if near else f"the known ones are {', '.join(known)}"
    raise DatasetError(f"no file or folder {str(name_or_path)!r}, and no dataset of that name; {hint}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """One known graph; its name is that of the file that holds it."""

    title: str
    home: str  # where to get it, as the end of a sentence
    licence: str  # under which its makers give it, as far as they say
    entities: int | None = None  # as published; None for the bundled graph, which is counted when asked
    relations: int | None = None  # one direction counted
    triples: tuple[int, ...] | None = None  # train, valid, test
    places: tuple[str, ...] = ()  # folders or archives under the data folder, the first that is there counts
    bundled: Path | None = None  # a file or folder that comes with the package, instead of `places`
    notices: Path | None = None  # a file of words that must be passed on with a bundled graph
    names: str | None = None  # labels of entities, a file in the folder
    relation_names: str | None = None

    def find(self, data: Path | None) -> Path | None:
        """The folder or archive, or None when it is not there."""
        if self.bundled is not None:
            return self.bundled
        candidates = [data / place for place in self.places] if data is not None else []
        return next((path for path in candidates if path.exists()), None)

    def folder(self, name: str, data: Path | None) -> Path:
        """The folder, unpacked from its archive if need be; when it is not there, a sentence says where to get it."""
        found = self.find(data)
        if found is None:
            looked = " or ".join(self.places)
            where = (
                f"under {data} (as {looked})"
                if data is not None
                else (f"found: neither --data nor $PATHFORMER_DATA is set, to say which folder holds {looked}")
            )
            raise DatasetError(f"the dataset {name!r} is not {where}; get it from {self.home}")
        return unpacked(found) if found.name.endswith(ARCHIVE_SUFFIXES) else found

    def load(self, name: str, data: Path | None) -> KnowledgeGraph:
        """Read the graph."""
        folder = self.folder(name, data)
        return KnowledgeGraph.read(
            folder,
            name=name,
            names=self._beside(folder, self.names),
            relation_names=self._beside(folder, self.relation_names),
        )

    def _beside(self, folder: Path, file: str | None) -> Path | None:
        """A file of labels; a copy of the dataset that lacks it is read without."""
        path = None if file is None else (folder if folder.is_dir() else folder.parent) / file
        return path if path is not None and path.is_file() else None


def data_folder(given: str | Path | None) -> Path | None:
    """The folder of datasets: as given, else $PATHFORMER_DATA, else none."""
    found = given or os.environ.get("PATHFORMER_DATA")
    return Path(found) if found else None
