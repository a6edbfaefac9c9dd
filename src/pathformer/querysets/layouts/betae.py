"""The BetaE layout: pickles of nested tuples, shared by most code of the field.

    {train,valid,test}-queries.pkl          shape -> set of instances
    train-answers.pkl                       instance -> set of answers on the train graph
    {valid,test}-{easy,hard}-answers.pkl    instance -> set of answers
    {id2ent,id2rel,ent2id,rel2id}.pkl, stats.txt, {train,valid,test}.txt    the graph, read by `kg.formats.betae`

Some releases also hold De Morgan forms of 2u and up (a negation around an intersection of negations); they repeat
the same queries and are left out with a notice. Pickles are read by an unpickler that admits plain containers only.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pathformer.errors import BenchmarkError, QueryError
from pathformer.files.atomic import new_folder
from pathformer.files.manifest import NAME
from pathformer.files.pickles import load_pickle
from pathformer.files.saved import Saved, open_save
from pathformer.kg.ragged import Ragged
from pathformer.query.structures import Structure, shape_text, structure
from pathformer.querysets.queries import Queries, StoredQueries, reading_ids

if TYPE_CHECKING:
    from pathformer.kg.knowledge import KnowledgeGraph
    from pathformer.querysets.query_sets import QuerySets

__all__ = ["MARKER", "SIGN", "detect", "read", "write"]

SIGN = "*-queries.pkl files"
MARKER = ".pathformer"  # without it a download looks the same, and a download must never be replaced
_DE_MORGAN = {
    ((("e", ("r", "n")), ("e", ("r", "n"))), ("n",)): "2u",
    ((("e", ("r", "n")), ("e", ("r", "n"))), ("n", "r")): "up",
}


def detect(path: Path) -> bool:
    """Whether the folder is in this layout."""
    return any(path.glob("*-queries.pkl"))


def read(path: Path, splits: Sequence[str]) -> QuerySets[StoredQueries]:
    """Reads these splits of the folder; a split without answer files has no answers.

    An export of ours is checked first, a download has nothing to be checked by.
    """
    if not (path / NAME).is_file():
        return _read(path, splits)
    return open_save(path, "queries", lambda saved: _checked(saved, splits))


def _checked(saved: Saved, splits: Sequence[str]) -> QuerySets[StoredQueries]:
    for name in saved.manifest.files:
        if name.startswith(tuple(splits)):
            saved.check(name)
    return _read(saved.folder, splits)


def _read(path: Path, splits: Sequence[str]) -> QuerySets[StoredQueries]:
    from pathformer.querysets.query_sets import QuerySets

    found: dict[str, dict[str, StoredQueries]] = {}
    notices: list[str] = []
    for split in splits:
        file = path / f"{split}-queries.pkl"
        if not file.is_file():
            continue
        queries = _mapping(file)
        easy_file = path / ("train-answers.pkl" if split == "train" else f"{split}-easy-answers.pkl")
        hard_file = path / f"{split}-hard-answers.pkl"
        easy = _mapping(easy_file) if easy_file.is_file() else None
        hard = _mapping(hard_file) if hard_file.is_file() else None
        found[split] = {}
        for shape, instances in queries.items():
            if shape in _DE_MORGAN:
                notices.append(f"{file.name}: {len(instances):,} De Morgan forms of {_DE_MORGAN[shape]} left out")
                continue
            stored = _to_stored(file, split, shape, instances, easy, hard)
            found[split][stored.structure.name] = stored
    return QuerySets(splits=found, folder=path, layout="betae", notices=notices)


def write(sets: QuerySets[Queries], path: Path, *, kg: KnowledgeGraph | None = None, force: bool = False) -> None:
    """Exports for other people's code: the one place where pickles are written; with `kg`, the graph beside them."""
    with new_folder(path, MARKER, kind="queries", force=force) as folder:
        (folder / MARKER).touch()
        for split, queries_of in sets.splits.items():
            asked = [part for part in queries_of.values() if len(part)]
            shapes = {part.structure.shape: set(_instances(part)) for part in queries_of.values()}
            _dump(shapes, folder / f"{split}-queries.pkl")
            easy = "train-answers.pkl" if split == "train" else f"{split}-easy-answers.pkl"
            _dump(_Streamed(chain.from_iterable(_answered(part, part.easy) for part in asked)), folder / easy)
            if split != "train":
                hard = chain.from_iterable(_answered(part, part.hard) for part in asked)
                _dump(_Streamed(hard), folder / f"{split}-hard-answers.pkl")
        if kg is not None:
            _write_graph(kg, folder)


def _write_graph(kg: KnowledgeGraph, folder: Path) -> None:
    """Writes the names of ids, the counts, and every edge in both directions."""
    names = kg.vocabulary
    entities = {e: names.entity(e) for e in range(names.entity_count)}
    relations = {r: f"{'-' if r % 2 else '+'}{names.relation(r)}" for r in range(names.relation_count)}
    for kind, named in (("ent", entities), ("rel", relations)):
        _dump(named, folder / f"id2{kind}.pkl")
        _dump({name: number for number, name in named.items()}, folder / f"{kind}2id.pkl")
    stats = f"numentity: {names.entity_count}\nnumrelations: {names.relation_count}"
    (folder / "stats.txt").write_text(stats, encoding="utf-8")
    for split, triples in kg.splits.items():
        inverse = np.stack([triples[:, 2], triples[:, 1] ^ 1, triples[:, 0]], axis=1)
        both = np.stack([triples, inverse], axis=1).reshape(-1, 3)
        np.savetxt(folder / f"{split}.txt", both, fmt="%d", delimiter="\t")


class _Streamed:
    """Pairs that a pickle holds as one dict, made and written one by one: together they may fill the memory."""

    def __init__(self, pairs: Iterator[tuple[Any, set[int]]]) -> None:
        self._pairs = pairs

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (), None, None, self._pairs


def _instances(queries: Queries) -> Iterator[Any]:
    return (queries.structure.instance(row) for row in queries.ids.tolist())


def _answered(queries: Queries, answers: Ragged) -> Iterator[tuple[Any, set[int]]]:
    return ((instance, set(answers[row].tolist())) for row, instance in enumerate(_instances(queries)))


def _dump(value: Any, file: Path) -> None:
    with file.open("wb") as stream:
        pickler = pickle.Pickler(stream, protocol=4)
        pickler.fast = True  # remembers nothing that it has written: nothing stands twice in it
        pickler.dump(value)


def _mapping(file: Path) -> Mapping[Any, Any]:
    value = load_pickle(file)
    if not isinstance(value, Mapping):
        raise BenchmarkError(f"{file}: expected a dict, found {type(value).__name__}")
    return value


def _to_stored(
    file: Path,
    split: str,
    shape: Any,
    instances: Any,
    easy: Mapping[Any, Any] | None,
    hard: Mapping[Any, Any] | None,
) -> StoredQueries:
    try:
        kind = structure(shape)
    except QueryError as error:
        raise BenchmarkError(f"{file}: {shape!r} is not a query structure ({error})") from error
    with reading_ids(file, f"{kind} queries"):
        ordered = sorted(instances)
        table = _table(file, kind, ordered)
    return StoredQueries(
        kind,
        table,
        easy=_answers(file, kind, ordered, easy),
        hard=Ragged.empty(len(ordered)) if split == "train" else _answers(file, kind, ordered, hard),
    )


def _table(file: Path, kind: Structure, instances: list[Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
    rows = [kind.row(instance) for instance in instances]
    for row, instance in zip(rows, instances, strict=True):
        if len(row) != len(kind.columns) or kind.instance(row) != instance:
            raise BenchmarkError(f"{file}: {instance!r} is not an instance of {shape_text(kind.shape)}")
    return np.array(rows, np.int32).reshape(len(rows), len(kind.columns))


def _answers(file: Path, kind: Structure, instances: list[Any], answers: Mapping[Any, Any] | None) -> Ragged | None:
    if answers is None:
        return None
    try:
        with reading_ids(file, f"{kind} queries' answers"):
            return Ragged.of(answers[instance] for instance in instances)
    except KeyError as error:
        raise BenchmarkError(f"{file}: the {kind} query {error} has no entry in the answer file beside it") from error
