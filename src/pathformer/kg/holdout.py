"""Divides a graph into train, valid and test at random, so that train keeps every name.

Triples are drawn in a seeded random order; one may leave train as long as its head, its relation and its tail stand in
another train triple. So no entity and no relation is met outside train only, and the fractions are reached wherever the
graph has enough triples to spare; a chain, for one, has none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError
from pathformer.kg.keys import merged, pack, unpack
from pathformer.kg.knowledge import KnowledgeGraph

__all__ = ["check_seed", "hold_out", "spared"]

_CHUNK = 1 << 16  # triples turned into Python numbers at once


def hold_out(graph: KnowledgeGraph, valid: float = 0.1, test: float = 0.1, *, seed: int = 0) -> KnowledgeGraph:
    """Divides all triples of a graph anew; `valid` and `test` are fractions of them, rounded down."""
    if not (valid >= 0 and test >= 0 and 0 < valid + test < 1):  # written so that NaN is refused
        raise InputError(f"fractions valid={valid:g} and test={test:g}: expected each from 0, together between 0 and 1")
    check_seed(seed)
    entities, relations = graph.vocabulary.entity_count, graph.vocabulary.relation_count
    parts = [pack(part, entities, relations) for part in graph.splits.values()]
    triples = unpack(merged(np.concatenate(parts)), entities, relations)
    wanted = {"test": int(test * len(triples)), "valid": int(valid * len(triples))}
    order = np.random.default_rng(seed).permutation(len(triples))
    held = spared(triples, order, sum(wanted.values()), entities, relations)
    share = round(len(held) * wanted["test"] / max(sum(wanted.values()), 1))  # when few can be spared, both get less
    places = {"test": held[:share], "valid": held[share:]}
    stay = np.ones(len(triples), np.bool_)
    stay[held] = False
    splits = {"train": triples[stay]}
    splits |= {split: triples[np.sort(places[split])] for split in ("valid", "test") if wanted[split]}
    return KnowledgeGraph(graph.name, graph.vocabulary, splits, report=graph.report)


def check_seed(seed: object) -> None:
    """Refuses a seed that a generator of random numbers cannot start from: torch's takes 64 bits."""
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 1 << 64:
        raise InputError(f"seed {seed}: expected a whole number from 0, below 2^64")


def spared(
    triples: npt.NDArray[np.int32], order: npt.NDArray[np.int64], count: int, entities: int, relations: int
) -> npt.NDArray[np.int64]:
    """Returns up to `count` positions, in the order given, whose triples train can spare."""
    degrees = np.bincount(triples[:, 0], minlength=entities) + np.bincount(triples[:, 2], minlength=entities)
    left: list[int] = degrees.tolist()
    left_of_relation: list[int] = np.bincount(triples[:, 1], minlength=relations).tolist()
    spared: list[int] = []
    for start in range(0, len(order), _CHUNK):
        places = order[start : start + _CHUNK]
        for place, (head, relation, tail) in zip(places.tolist(), triples[places].tolist(), strict=True):
            if len(spared) == count:
                return np.array(spared, np.int64)
            needed = 2 if head == tail else 1  # a loop counts twice in the degree of its entity
            if left[head] > needed and left[tail] > needed and left_of_relation[relation] > 1:
                left[head] -= 1
                left[tail] -= 1
                left_of_relation[relation] -= 1
                spared.append(place)
    return np.array(spared, np.int64)
