"""Divides a graph into train, valid and test at random, so that train keeps every name and states nothing held out.

Triples are drawn in a seeded random order; one may leave train as long as its head, its relation and its tail stand in
another train triple. So no entity and no relation is met outside train only, and the fractions are reached wherever the
graph has enough triples to spare; a chain, for one, has none. All triples that state the same (`kg/restatements`) leave
together and go to the same part: one of them in train would give the others away.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError
from pathformer.kg.keys import merge, pack, unpack
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.restatements import find_statements, restate

__all__ = ["check_seed", "count_restated", "cut", "hold_out", "spared", "spell_out"]

_CHUNK = 1 << 16  # triples turned into Python numbers at once

Positions = npt.NDArray[np.int64]


def hold_out(graph: KnowledgeGraph, valid: float = 0.1, test: float = 0.1, *, seed: int = 0) -> KnowledgeGraph:
    """Divides all triples of a graph anew; `valid` and `test` are fractions of them, rounded down."""
    if not (valid >= 0 and test >= 0 and 0 < valid + test < 1):  # written so that NaN is refused
        raise InputError(f"fractions valid={valid:g} and test={test:g}: expected each from 0, together between 0 and 1")
    check_seed(seed)
    sizes = graph.vocabulary.entity_count, graph.vocabulary.relation_count
    parts = [pack(part, *sizes) for part in graph.splits.values()]
    triples = unpack(merge(np.concatenate(parts)), *sizes)
    statements = find_statements(triples, graph.restatements(), *sizes)
    wanted = {"test": int(test * len(triples)), "valid": int(valid * len(triples))}
    order = np.random.default_rng(seed).permutation(len(triples))
    held = spared(triples, order, sum(wanted.values()), *sizes, statements)
    share = round(len(held) * wanted["test"] / max(sum(wanted.values()), 1))  # when few can be spared, both get less
    first, rest = cut(held, share, statements)
    places = {"test": first, "valid": cut(rest, wanted["valid"], statements)[0]}
    stay = np.ones(len(triples), np.bool_)
    stay[np.concatenate(list(places.values()))] = False
    splits = {"train": triples[stay]}
    splits |= {split: triples[np.sort(places[split])] for split in ("valid", "test") if wanted[split]}
    return KnowledgeGraph(graph.name, graph.vocabulary, splits, report=graph.report)


def spell_out(graph: KnowledgeGraph) -> KnowledgeGraph:
    """Returns the graph by what its triples state, as questions about missing links must see it.

    A held-out triple that an earlier part states is moved there: finding it again is no prediction. And what train
    states with one relation it states with those that restate it, too: a prediction of that is none, right or wrong.
    The graph itself is returned where that changes nothing.
    """
    if not graph.restatements():
        return graph
    triples, part = np.concatenate(list(graph.splits.values())), _part_of_each(graph)
    first = part[_statements(graph, triples)]
    sizes = graph.vocabulary.entity_count, graph.vocabulary.relation_count
    more = merge(pack(restate(triples[first == 0], graph.restatements(), sizes[1]), *sizes))
    more = np.setdiff1d(more, pack(triples, *sizes), assume_unique=True)
    if np.array_equal(first, part) and not len(more):
        return graph
    keys = [pack(triples[first == place], *sizes) for place in range(len(graph.splits))]
    keys[0] = np.concatenate([keys[0], more])
    spelled = {split: unpack(merge(own), *sizes) for split, own in zip(graph.splits, keys, strict=True)}
    return KnowledgeGraph(graph.name, graph.vocabulary, spelled, report=graph.report)


def count_restated(graph: KnowledgeGraph) -> tuple[int, int]:
    """Counts the held-out triples that are stated more than once: in their own part alone, in an earlier part too."""
    part = _part_of_each(graph)
    statements = _statements(graph, np.concatenate(list(graph.splits.values())))
    several = np.bincount(statements, minlength=len(part))[statements] > 1
    earlier = part[statements] < part
    return int((several & ~earlier & (part > 0)).sum()), int(earlier.sum())


def check_seed(seed: object) -> None:
    """Refuses a seed that a generator of random numbers cannot start from: torch's takes 64 bits."""
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 1 << 64:
        raise InputError(f"seed {seed}: expected a whole number from 0, below 2^64")


def spared(
    triples: npt.NDArray[np.int32],
    order: Positions,
    count: int,
    entities: int,
    relations: int,
    statements: Positions,
) -> Positions:
    """Returns up to `count` positions, in the order given, whose triples train can spare.

    statements: as of `find_statements`; the triples of a statement are spared together or not at all, when its first
    triple has its turn, so that a statement of many triples is not drawn more often than another.
    """
    sizes = np.bincount(statements, minlength=len(triples))
    by_statement, end = np.argsort(statements, kind="stable"), np.cumsum(sizes)
    degrees = np.bincount(triples[:, 0], minlength=entities) + np.bincount(triples[:, 2], minlength=entities)
    left: list[int] = degrees.tolist()
    left_of_relation: list[int] = np.bincount(triples[:, 1], minlength=relations).tolist()
    spared: list[int] = []
    order = order[statements[order] == order]
    for start in range(0, len(order), _CHUNK):
        places = order[start : start + _CHUNK]
        for place, size, triple in zip(places.tolist(), sizes[places].tolist(), triples[places].tolist(), strict=True):
            if len(spared) == count:
                return np.array(spared, np.int64)
            if len(spared) + size > count:
                continue
            members = [place] if size == 1 else by_statement[end[place] - size : end[place]].tolist()
            if _spare([triple] if size == 1 else triples[members].tolist(), left, left_of_relation):
                spared += members
    return np.array(spared, np.int64)


def _spare(triples: list[list[int]], left: list[int], left_of_relation: list[int]) -> bool:
    """Takes triples out of the counts of train; puts them back if a name would be left without one."""
    _add(-1, triples, left, left_of_relation)
    if all(left[head] and left[tail] and left_of_relation[relation] for head, relation, tail in triples):
        return True
    _add(1, triples, left, left_of_relation)
    return False


def _add(number: int, triples: list[list[int]], left: list[int], left_of_relation: list[int]) -> None:
    for head, relation, tail in triples:  # a loop counts twice in the degree of its entity
        left[head] += number
        left[tail] += number
        left_of_relation[relation] += number


def cut(held: Positions, count: int, statements: Positions) -> tuple[Positions, Positions]:
    """Divides held-out positions after `count` of them, or before a statement that would be divided."""
    while 0 < count < len(held) and statements[held[count]] == statements[held[count - 1]]:
        count -= 1
    return held[:count], held[count:]


def _statements(graph: KnowledgeGraph, triples: npt.NDArray[np.int32]) -> Positions:
    sizes = graph.vocabulary.entity_count, graph.vocabulary.relation_count
    return find_statements(triples, graph.restatements(), *sizes)


def _part_of_each(graph: KnowledgeGraph) -> Positions:
    """Returns for each triple, part after part, the number of its part."""
    return np.repeat(np.arange(len(graph.splits)), [len(part) for part in graph.splits.values()])
