"""The graph part of a BetaE folder: `{train,valid,test}.txt` of ids, with the id maps in pickles.

The files list every edge in both directions, relation 2k and its inverse 2k + 1, whose names differ by a sign (`+r`,
`-r`) or an ending (`r`, `r_reverse`). Ids are kept as they are, so that other people's queries keep their meaning.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pathformer.errors import GraphFileError
from pathformer.files.pickles import load_pickle
from pathformer.kg.arrow import numbers_of
from pathformer.kg.formats import tsv
from pathformer.kg.formats._cells import OUTER
from pathformer.kg.formats._lines import rows
from pathformer.kg.formats._registry import FolderFormat, ReadOptions
from pathformer.kg.keys import merge, pack, unpack
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.splits import SPLITS, Report, assemble
from pathformer.kg.vocabulary import Vocabulary

__all__ = ["FORMAT", "base_name", "read_id_map"]

Ids = npt.NDArray[np.int32]


def _matches(folder: Path) -> bool:
    return (folder / "train.txt").is_file() and (folder / "id2ent.pkl").is_file()


def _read(folder: Path, options: ReadOptions) -> KnowledgeGraph:
    entities = read_id_map(folder / "id2ent.pkl")
    relations = _base_names(folder / "id2rel.pkl")
    tables: dict[str, Ids] = {}
    met = Report()
    for split in SPLITS:
        path = folder / f"{split}.txt"
        if path.is_file():
            tables[split], found = _read_split(path, options, len(entities), 2 * len(relations))
            met += found
    unseen = np.ones(len(entities), np.bool_)
    unseen[tables["train"][:, [0, 2]]] = False
    for split in tables.keys() - {"train"}:
        ends = tables[split][:, [0, 2]]
        ends[unseen[ends]] = -1
        tables[split][:, [0, 2]] = ends
    splits, report = assemble(tables, len(entities), 2 * len(relations))
    return KnowledgeGraph(
        folder.resolve().name, Vocabulary.of(entities, relations), splits, report=met + replace(report, lines=0)
    )


def read_id_map(path: Path) -> list[str]:
    """Names in order of ids, from a pickled dict of id -> name."""
    mapping = load_pickle(path)
    if not isinstance(mapping, dict) or not all(isinstance(name, str) for name in mapping.values()):
        raise GraphFileError("expected a dict of ids and names", path)
    if set(mapping) != set(range(len(mapping))):
        raise GraphFileError(f"the ids of {len(mapping):,} names are not 0 to {len(mapping) - 1:,}", path)
    seen: dict[str, int] = {}
    for position in range(len(mapping)):
        if seen.setdefault(mapping[position], position) != position:
            name = mapping[position]
            raise GraphFileError(f"the name {name!r} stands twice, as {seen[name]} and {position}", path)
    return list(seen)


def base_name(forward: str, inverse: str) -> str | None:
    """The one name of a relation and its inverse, or None when the two do not belong together."""
    if forward.startswith("+") and inverse == "-" + forward[1:]:
        return forward[1:]
    return forward if inverse == forward + "_reverse" else None


def _base_names(path: Path) -> list[str]:
    names = read_id_map(path)
    if len(names) % 2:
        raise GraphFileError(f"{len(names)} relations: expected each with its inverse, an even number", path)
    found = []
    for position in range(0, len(names), 2):
        base = base_name(names[position], names[position + 1])
        if base is None:
            pair = f"{names[position]!r} and {names[position + 1]!r}"
            raise GraphFileError(
                f"relations {position} and {position + 1}, {pair}, are not a relation and its inverse", path
            )
        found.append(base)
    return found


def _read_split(path: Path, options: ReadOptions, entities: int, relations: int) -> tuple[Ids, Report]:
    """Distinct forward triples of a file that lists both directions; a repeated line counts as a duplicate."""
    lines, met = _read_ids(path, options, entities, relations)
    if not len(lines):
        raise GraphFileError("the file holds no triples: expected a head, a relation and a tail on each line", path)
    directed = unpack(merge(pack(lines, entities, relations)), entities, relations)
    backwards = directed[:, 1] % 2 == 1
    directed[backwards] = directed[backwards][:, ::-1] - np.array([0, 1, 0], np.int32)
    forward = unpack(merge(pack(directed, entities, relations)), entities, relations)
    return forward, met + Report(lines=len(lines), duplicates=len(lines) - len(directed))


def _read_ids(path: Path, options: ReadOptions, entities: int, relations: int) -> tuple[Ids, Report]:
    options = replace(options, columns=None, header=False, delimiter=None, quote=None)
    limits = np.array([entities, relations, entities])
    parts, met = [np.empty((0, 3), np.int32)], Report()
    for batch in tsv.FORMAT.read(path, options):
        ids = np.stack([_numbers(column) for column in (batch.heads, batch.relations, batch.tails)], axis=1)
        good = np.all((ids >= 0) & (ids < limits), axis=1)
        wrong = len(ids) - int(np.count_nonzero(good))
        if wrong and not options.skip_bad:
            raise _first_wrong_id(path, entities, relations)
        notes = (str(_first_wrong_id(path, entities, relations)),) if wrong and not met.notes else ()
        met += Report(skipped=batch.skipped + wrong, notes=batch.notes + notes)
        parts.append(ids[good] if wrong else ids)
    return np.concatenate(parts), met


def _numbers(column: Any) -> Ids:
    """The ids of a column of text, -1 for what is none."""
    try:
        return numbers_of(column.cast(pa.int32()))
    except pa.ArrowInvalid:
        return np.array([int(cell) if _is_id(cell) else -1 for cell in column.to_pylist()], np.int32)


def _is_id(cell: str) -> bool:
    return cell.isascii() and cell.isdigit() and len(cell) < 10


def _first_wrong_id(path: Path, entities: int, relations: int) -> GraphFileError:
    kinds = (("entity", "entities", entities), ("relation", "relations", relations), ("entity", "entities", entities))
    for line, _, cells in rows(path, "utf-8", "\t", ""):
        for cell, (kind, kinds_of, count) in zip((cell.strip(OUTER) for cell in cells), kinds, strict=False):
            if not _is_id(cell) or int(cell) >= count:
                problem = f"no {kind} has the id {cell!r}: there are {count:,} {kinds_of}, 0 to {count - 1:,}"
                return GraphFileError(problem, path, line)
    raise AssertionError(f"no wrong id in {path}")


FORMAT = FolderFormat("BetaE folder of ids and pickled names", _matches, _read)
