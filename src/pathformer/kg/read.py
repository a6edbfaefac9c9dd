"""Reads files into a knowledge graph: finds the files of each split and their format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pathformer.errors import GraphFileError, InputError
from pathformer.files.source import as_file, is_pipe, plain_name
from pathformer.kg.build import build
from pathformer.kg.formats._registry import Batch, FileFormat, ReadOptions, file_format, folder_format
from pathformer.kg.knowledge import KnowledgeGraph, Paths
from pathformer.kg.splits import SPLITS
from pathformer.kg.storage import is_saved, open_graph
from pathformer.text import counted

__all__ = ["Sources", "read_graph", "sources"]

Sources = Path | dict[str, list[Path]]  # a folder that some format reads whole, or the files of each split

_ONLY_OTHER_LINES = ": it has only a header, comments or lines left out. Add triples, or leave the file out"
_SPLIT_WORDS = {
    "train": "train",
    "valid": "valid",
    "validation": "valid",
    "dev": "valid",
    "val": "valid",
    "test": "test",
}


def read_graph(
    found: Sources, options: ReadOptions, *, name: str | None = None, format: str | None = None
) -> KnowledgeGraph:
    """The graph of some sources."""
    if isinstance(found, Path):
        return _read_folder(found, options, name)
    batches: dict[str, Iterator[Batch]] = {}
    number = 1
    for split, files in found.items():
        batches[split] = _batches(files, options, format, number, may_be_empty=split != "train")
        number += len(files)
    return build(name or _name_of(found["train"][0]), batches)


def sources(paths: Paths) -> Sources:
    """Finds the files behind a caller's paths; files called train, valid and test are splits."""
    if isinstance(paths, Mapping):
        parts: dict[str, list[Path]] = {}
        for split, files in paths.items():  # two words may mean one split
            parts.setdefault(_split_of(split), []).extend(_list_files(files))
    elif isinstance(paths, str | Path) and Path(paths).is_dir():
        folder = Path(paths)
        if is_saved(folder) or folder_format(folder) is not None:
            return folder
        parts = _split_files(folder)
    else:
        listed = _list_files(paths)
        words = [_split_word(path) for path in listed]
        if None not in words and "train" in words and len(set(words)) == len(words) > 1:
            parts = {word: [path] for word, path in zip(words, listed, strict=True) if word is not None}
        else:
            parts = {"train": listed}
    if not parts.get("train"):
        raise InputError("no file of triples to read: name a file, or a folder with a file that is called train")
    for path in (path for files in parts.values() for path in files):
        if not path.is_file() and not is_pipe(path):
            raise GraphFileError("is not a file" if path.exists() else "no such file", path)
    return {split: parts[split] for split in SPLITS if split in parts}


def _read_folder(folder: Path, options: ReadOptions, name: str | None) -> KnowledgeGraph:
    if is_saved(folder):
        graph = open_graph(folder)
    else:
        layout = folder_format(folder)
        assert layout is not None
        graph = layout.read(folder, options)
    if name is not None:
        graph.name = name
    return graph


def _batches(
    files: Sequence[Path], options: ReadOptions, format: str | None, number: int, *, may_be_empty: bool
) -> Iterator[Batch]:
    """The triples of files, one after the other; a file of RDF literals alone may stand beside others."""
    total = 0
    literals_only: GraphFileError | None = None
    for position, path in enumerate(files, number):
        rows = literals = 0
        for batch in _read_file(path, file_format(path, format), replace(options, file=position)):
            rows += len(batch.heads)
            literals += batch.literals
            yield batch
        total += rows
        if not rows and not literals:
            raise GraphFileError(f"the file holds no triples{_ONLY_OTHER_LINES}", path)
        if not rows:
            literals_only = literals_only or _literals_only(literals, path)
    if literals_only is not None and not total and not may_be_empty:
        raise literals_only


def _read_file(path: Path, format: FileFormat, options: ReadOptions) -> Iterator[Batch]:
    with as_file(path) as file:
        if not file.stat().st_size:
            raise GraphFileError("the file is empty: expected a head, a relation and a tail on each line", path)
        for batch in format.read(file, options):
            notes = (note.replace(str(file), str(path), 1) for note in batch.notes)
            yield batch if file == path else replace(batch, notes=tuple(notes))


def _literals_only(count: int, path: Path) -> GraphFileError:
    left_out = counted(count, "RDF literal was", "RDF literals were")
    way_on = "keep such triples with --literals (literals=True)"
    return GraphFileError(f"the file holds no triples: {left_out} left out; {way_on}", path)


def _split_files(folder: Path) -> dict[str, list[Path]]:
    """The files of a folder that are called train, valid and test."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        split = _split_word(path)
        if split is not None and path.is_file():
            found.setdefault(split, []).append(path)
    for split, files in found.items():
        if len(files) > 1:
            names = ", ".join(path.name for path in files)
            raise GraphFileError(f"several files could be {split}: {names}; name the files to read", folder)
    if "train" not in found and is_saved(folder / "graph"):
        raise GraphFileError(f"an engine and no graph: its graph lies in {folder / 'graph'}", folder)
    if "train" not in found:
        raise GraphFileError("not a saved graph, and no train file (train.txt, train.tsv, ...) in it", folder)
    return found


def _list_files(files: str | Path | Sequence[str | Path]) -> list[Path]:
    try:
        return [Path(files)] if isinstance(files, str | Path) else [Path(path) for path in files]
    except TypeError as error:
        raise InputError(f"{files!r} names no files: expected a path or several ({error})") from error


def _split_of(word: str) -> str:
    if word not in _SPLIT_WORDS:
        raise InputError(f"no split {word!r}: expected train, valid, test")
    return _SPLIT_WORDS[word]


def _split_word(path: Path) -> str | None:
    return _SPLIT_WORDS.get(Path(plain_name(path)).stem.casefold())


def _name_of(path: Path) -> str:
    """Returns the name of a graph: its file's, or the folder's of a file called train; `pipe` for a pipe.

    A name that the system holds in another encoding than UTF-8 cannot be written down: what is not text becomes a `?`.
    """
    if is_pipe(path) and not path.suffix:
        return "pipe"
    name = path.resolve().parent.name if _split_word(path) else Path(plain_name(path)).stem
    return name.encode(errors="replace").decode()
