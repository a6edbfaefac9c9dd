"""Takes triples away from a graph: all names stay, with their ids, also those that no triple has any more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError
from pathformer.kg.keys import merge, pack, unpack
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.names import Names
from pathformer.text import counted

__all__ = ["Shrunk", "shrink"]

Triples = npt.NDArray[np.int32]
_HELD_OUT = ("valid", "test")


@dataclass(frozen=True, eq=False, slots=True)
class Shrunk:
    """The smaller graph, and what was taken away."""

    kg: KnowledgeGraph
    triples: Triples  # (n, 3) that the larger graph had
    absent: int  # triples to take away that it did not have


def shrink(kg: KnowledgeGraph, less: KnowledgeGraph) -> Shrunk:
    """Takes the triples of all parts of `less` away, from whichever part they stand in.

    A held-out triple goes back to train if one of its names is left without a triple there: train keeps every name that
    has triples at all. Taking all triples away is refused.
    """
    names = kg.vocabulary
    sizes = names.entity_count, names.relation_count
    given = np.concatenate(list(less.splits.values()))
    entity_of = _positions(names.entities, less.vocabulary.entities)
    relation_of = _positions(names.relations, less.vocabulary.relations)
    mapped = np.stack([entity_of[given[:, 0]], 2 * relation_of[given[:, 1] >> 1], entity_of[given[:, 2]]], axis=1)
    wanted = merge(pack(mapped[(mapped >= 0).all(axis=1)], *sizes))
    keys = {split: pack(part, *sizes) for split, part in kg.splits.items()}
    gone = np.intersect1d(wanted, np.concatenate(list(keys.values())))
    if len(gone) == kg.triple_count:
        raise InputError(
            f"these are all {counted(len(gone), 'triple')} of {kg.name}: an engine needs at least one, "
            "so nothing was taken away"
        )
    left = {split: unpack(np.setdiff1d(own, gone), *sizes) for split, own in keys.items()}
    distinct = len(np.unique(given, axis=0))
    return Shrunk(KnowledgeGraph(kg.name, names, _move_back(left, sizes)), unpack(gone, *sizes), distinct - len(gone))


def _move_back(parts: dict[str, Triples], sizes: tuple[int, int]) -> dict[str, Triples]:
    """Moves held-out triples with a name that train lost to train."""
    train = [parts["train"]]
    entities, relations = np.zeros(sizes[0], np.bool_), np.zeros(sizes[1], np.bool_)
    entities[parts["train"][:, [0, 2]]] = True
    relations[parts["train"][:, 1]] = True
    found = dict(parts)
    for split in _HELD_OUT:
        if split in parts:
            rows = parts[split]
            covered = entities[rows[:, [0, 2]]].all(axis=1) & relations[rows[:, 1]]
            found[split] = rows[covered]
            train.append(rows[~covered])
    found["train"] = unpack(merge(pack(np.concatenate(train), *sizes)), *sizes)
    return found


def _positions(names: Names, given: Names) -> npt.NDArray[np.int64]:
    """Returns the position of each given name among the names, -1 for an unknown one."""
    return np.array([(names.find(name) or [-1])[0] for name in given], np.int64)
