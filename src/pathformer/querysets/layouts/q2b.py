"""The Query2box layout: for each split and structure a list of queries and dicts of answers.

    {split}_triples_X.pkl     list of queries, with a placeholder 0 and a name at the end
    {split}_ans_X.pkl         query without those -> all answers, easy and hard together
    {split}_ans_X_hard.pkl    query -> those that the smaller graph misses

X is 1c 2c 3c 2i 3i ic ci 2u uc, where c is p. Chains look like ((e, (r, ..), 0), name), branches like
((e, (r, ..)), .., 0, name); ic and uc carry the last relation as a bare number before the placeholder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pathformer.errors import BenchmarkError
from pathformer.files.pickles import load_pickle
from pathformer.kg.ragged import Ragged
from pathformer.query.structures import STRUCTURES, Structure
from pathformer.querysets.queries import StoredQueries, reading_ids

if TYPE_CHECKING:
    from pathformer.querysets.query_sets import QuerySets

__all__ = ["SIGN", "detect", "read"]

SIGN = "*_triples_*.pkl files"
_NAMES = {"1c": "1p", "2c": "2p", "3c": "3p", "2i": "2i", "3i": "3i", "ic": "ip", "ci": "pi", "2u": "2u", "uc": "up"}


def detect(path: Path) -> bool:
    """Whether the folder is in this layout."""
    return any(path.glob("*_triples_*.pkl"))


def read(path: Path, splits: Sequence[str]) -> QuerySets[StoredQueries]:
    """Reads these splits of the folder; a structure without an answer file has no answers."""
    from pathformer.querysets.query_sets import QuerySets

    found: dict[str, dict[str, StoredQueries]] = {}
    for split in splits:
        files = {name: path / f"{split}_triples_{name}.pkl" for name in _NAMES}
        present = {_NAMES[name]: _read(path, split, name, file) for name, file in files.items() if file.is_file()}
        if present:
            found[split] = present
    return QuerySets(splits=found, folder=path, layout="q2b")


def _read(path: Path, split: str, name: str, file: Path) -> StoredQueries:
    kind = STRUCTURES[_NAMES[name]]
    queries = load_pickle(file)
    if not isinstance(queries, list):
        raise BenchmarkError(f"{file}: expected a list of queries, found {type(queries).__name__}")
    keys = [_key(file, query) for query in queries]
    with reading_ids(file, "queries"):
        table = _table(file, kind, keys)
    everything = _answers(path / f"{split}_ans_{name}.pkl", keys)
    hard = _answers(path / f"{split}_ans_{name}_hard.pkl", keys)
    train = split == "train"
    return StoredQueries(
        kind,
        table,
        easy=everything if train else None,
        hard=Ragged.empty(len(keys)) if train else hard,
        everything=None if train else everything,
    )


def _key(file: Path, query: Any) -> Any:
    """Returns a query without its placeholder and name, which is its key in the answer files."""
    try:
        if len(query) == 2:  # ((e, (r, ..), 0), name): a chain
            (entity, relations, _), _ = query
            return ((entity, relations),)
        return tuple(query[:-2])
    except (TypeError, ValueError) as error:
        raise BenchmarkError(f"{file}: {query!r} is not a query of the Query2box layout") from error


def _table(file: Path, kind: Structure, keys: list[Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
    width = len(kind.columns)
    rows = [_flat(key) for key in keys]
    for row, key in zip(rows, keys, strict=True):
        if len(row) != width:
            raise BenchmarkError(f"{file}: {key!r} is not a {kind} query: {len(row)} ids instead of {width}")
    return np.array(rows, np.int32).reshape(len(rows), width)


def _flat(node: Any) -> list[int]:
    return [value for part in node for value in _flat(part)] if isinstance(node, tuple) else [node]


def _answers(file: Path, keys: list[Any]) -> Ragged | None:
    if not file.is_file():
        return None
    answers = load_pickle(file)
    if not isinstance(answers, Mapping):
        raise BenchmarkError(f"{file}: expected a dict, found {type(answers).__name__}")
    with reading_ids(file, "answers"):
        return Ragged.of(answers.get(key, ()) for key in keys)
