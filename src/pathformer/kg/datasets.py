"""Graphs that are known by name, a row each; a plugin adds one by a module with a `DATASET`.

All but the bundled one lie in a data folder (`--data`, `$PATHFORMER_DATA`) that the user fills; nothing is downloaded.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pathformer import plugins
from pathformer.errors import DatasetError
from pathformer.files.archives import ARCHIVE_SUFFIXES, unpack
from pathformer.files.source import is_pipe
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.text import closest

__all__ = ["Dataset", "data_folder", "datasets", "is_known", "load", "locate", "names"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A graph that is known by name: where it lies, where to get it, and how large it is."""

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
                else f"found: set --data or $PATHFORMER_DATA to the folder that holds {looked}"
            )
            raise DatasetError(f"the dataset {name!r} is not {where}; get it from {self.home}")
        return unpack(found) if found.name.endswith(ARCHIVE_SUFFIXES) else found

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


_WORLD = Path(__file__).parent / "world"
_BETAE = "snap.stanford.edu/betae/KG_data.zip (see github.com/snap-stanford/KGReasoning)"
_PYKEEN = "the datasets of PyKEEN (github.com/pykeen/pykeen)"

_DATASETS: dict[str, Dataset] = {
    "codex-s": Dataset(  # Safavi and Koutra 2020
        title="people and places of Wikidata",
        home="the data of CoDEx (github.com/tsafavi/codex)",
        licence="MIT (CoDEx); the facts and names are Wikidata's, CC0",
        entities=2_034,
        relations=42,
        triples=(32_888, 1_827, 1_828),
        places=("small/codex-s", "codex-s"),
        names="entity2name.txt",
        relation_names="relations_en.json",
    ),
    "fb15k-237": Dataset(  # Toutanova and Chen 2015, Ren and Leskovec 2020: the first graph of the paper
        title="Freebase facts, BetaE edition",
        home=_BETAE,
        licence="Freebase, CC BY; the edition states none of its own; names are Wikidata's, CC0",
        entities=14_505,
        relations=237,
        triples=(272_115, 17_526, 20_438),
        places=("fb15k-237", "FB15k-237-betae"),
        names="entity_names.tsv",
    ),
    "kinships": Dataset(  # Denham 1973, Kok and Domingos 2007
        title="terms of kinship among the Alyawarra",
        home=_PYKEEN,
        licence="MIT (the copy of PyKEEN)",
        entities=104,
        relations=25,
        triples=(8_544, 1_068, 1_074),
        places=("small/kinships", "kinships"),
    ),
    "nations": Dataset(  # Rummel 1992, Kok and Domingos 2007
        title="relations between fourteen countries, 1950 to 1965",
        home=_PYKEEN,
        licence="MIT (the copy of PyKEEN)",
        entities=14,
        relations=55,
        triples=(1_592, 199, 201),
        places=("small/nations", "nations"),
    ),
    "nell995": Dataset(  # Xiong et al. 2017, Ren and Leskovec 2020: the second graph of the paper
        title="facts read from the web by NELL, BetaE edition",
        home=_BETAE,
        licence="none is stated by the edition",
        entities=63_361,
        relations=200,
        triples=(114_213, 14_324, 14_267),
        places=("nell995", "NELL-betae"),
    ),
    "umls": Dataset(  # McCray 2003, Kok and Domingos 2007
        title="types of medical concepts",
        home=_PYKEEN,
        licence="MIT (the copy of PyKEEN)",
        entities=135,
        relations=46,
        triples=(5_216, 652, 661),
        places=("small/umls", "umls"),
        names="entity2text.txt",
    ),
    "wn18rr-qa": Dataset(  # Huang, Chiang and Lee 2022: queries of all fourteen structures in the BetaE layout
        title="WordNet relations between synsets, with benchmark queries",
        home="github.com/nelsonhuangzijian/WN18RR-QA",
        licence="none is stated by the edition",
        entities=40_559,
        relations=11,
        triples=(86_835, 2_824, 2_924),
        places=("wn18rr-qa", "wn18rr-qa.tar.xz", "WN18RR-QA"),
        names="names/entity2text.txt",
        relation_names="names/relation2text.txt",
    ),
    "world": Dataset(  # made by scripts/make_world.py
        title="countries, cities, languages, currencies and airports (bundled)",
        home="the package itself",
        licence="CC BY 4.0 (GeoNames, www.geonames.org; changed), Unicode License V3 (CLDR), MIT (airportsdata)",
        bundled=_WORLD / "triples.tsv",
        notices=_WORLD / "LICENSES.md",
        names="labels.tsv",
    ),
}


def names() -> tuple[str, ...]:
    """Returns the names of all known datasets, sorted."""
    return tuple(sorted({*_DATASETS, *plugins.names("datasets")}))


def is_known(name: str | Path) -> bool:
    """Whether a text is the name of a dataset, whatever files are called so; a `Path` is always a path."""
    return isinstance(name, str) and name in names()


def datasets() -> dict[str, Dataset]:
    """Returns every known dataset by name."""
    return {name: _find(name) for name in names()}


def load(name_or_path: str | Path, data: str | Path | None = None) -> KnowledgeGraph:
    """Reads a graph by known name, else by path: a saved graph, a BetaE folder, a folder of splits, a file of triples.

    A folder that is called like a known dataset is meant when a path is written: `./umls`.
    """
    if is_known(name_or_path):
        return _find(str(name_or_path)).load(str(name_or_path), data_folder(data))
    return KnowledgeGraph.read(_path(name_or_path))


def locate(name_or_path: str | Path, data: str | Path | None = None) -> Path:
    """Returns the folder of a known dataset (unpacked from its archive if need be), else the path itself."""
    if is_known(name_or_path):
        return _find(str(name_or_path)).folder(str(name_or_path), data_folder(data))
    return _path(name_or_path)


def data_folder(given: str | Path | None) -> Path | None:
    """Returns the folder of datasets: the given one, else $PATHFORMER_DATA, else None."""
    found = given or os.environ.get("PATHFORMER_DATA")
    return Path(found) if found else None


def _find(name: str) -> Dataset:
    dataset: Dataset = _DATASETS.get(name) or plugins.load("datasets", name).DATASET
    return dataset


def _path(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.exists() or is_pipe(path):
        return path
    near = closest(str(name_or_path), names())
    hint = f"closest: {', '.join(map(repr, near))}" if near else f"the known ones are {', '.join(names())}"
    raise DatasetError(f"no file or folder {str(name_or_path)!r}, and no dataset of that name; {hint}")
