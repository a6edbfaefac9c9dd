"""Triples as 64-bit numbers, so that sorting and merging triples is sorting and merging numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError

__all__ = ["distinct", "first_of_run", "merge", "pack", "sort", "unpack"]

Integers = npt.NDArray[np.integer]
Keys = npt.NDArray[np.int64]


def pack(triples: Integers, entities: int, relations: int, out: Keys | None = None, *, inverse: bool = False) -> Keys:
    """(head * R + relation) * N + tail of triples (n, 3): ascending keys are ascending triples.

    With `inverse`, the keys of the same edges walked backwards: (tail, relation ^ 1, head).
    """
    if entities * relations * entities >= 2**63:
        raise InputError(f"{entities:,} entities and {relations:,} relations do not fit a 64-bit key")
    keys = np.empty(len(triples), np.int64) if out is None else out
    first, last = (2, 0) if inverse else (0, 2)
    np.multiply(triples[:, first], relations, out=keys, dtype=np.int64)
    keys += triples[:, 1] ^ 1 if inverse else triples[:, 1]
    keys *= entities
    keys += triples[:, last]
    return keys


def unpack(keys: Keys, entities: int, relations: int) -> npt.NDArray[np.int32]:
    """The triples (n, 3) of keys."""
    triples = np.empty((len(keys), 3), np.int32)
    pairs = keys // entities
    np.subtract(keys, pairs * entities, out=triples[:, 2], casting="unsafe")
    heads = pairs // relations
    np.subtract(pairs, heads * relations, out=triples[:, 1], casting="unsafe")
    triples[:, 0] = heads
    return triples


def first_of_run(values: Keys) -> npt.NDArray[np.bool_]:
    """Marks the sorted values that differ from the one before."""
    first = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return first


def distinct(keys: Keys) -> Keys:
    """Sorted keys without repeats; the same array when there are none."""
    first = first_of_run(keys)
    return keys if first.all() else keys[first]


def sort(keys: Keys) -> None:
    """Sorts in place, unless the values are sorted already."""
    if not np.all(keys[1:] >= keys[:-1]):
        keys.sort()


def merge(keys: Keys) -> Keys:
    """The distinct keys, ascending; the argument is sorted in place."""
    sort(keys)
    return distinct(keys)
