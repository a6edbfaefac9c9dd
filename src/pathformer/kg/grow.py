"""Adds triples to a graph: old names keep their ids, new names come after them.

Every id means what it meant before, so that weights and indices made for the smaller graph stay right.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pathformer.kg.holdout import cut, spared
from pathformer.kg.keys import merge, pack, unpack
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.names import Names
from pathformer.kg.restatements import find_restatements, find_statements
from pathformer.kg.vocabulary import Vocabulary

__all__ = ["Grown", "grow"]

Triples = npt.NDArray[np.int32]


def _none() -> Triples:
    return np.zeros((0, 3), np.int32)


@dataclass(frozen=True, eq=False, slots=True)
class Grown:
    """The larger graph and its new parts, and what was taken away before it grew."""

    kg: KnowledgeGraph
    triples: Triples = field(default_factory=_none)  # (n, 3) that the smaller graph had in none of its parts
    entities: int = 0  # how many are new: the last ones
    relations: int = 0  # likewise, base relations
    removed: Triples = field(default_factory=_none)  # (n, 3) that were taken away
    removed_before: Triples = field(default_factory=_none)  # likewise, earlier, which no training has learned yet


def grow(kg: KnowledgeGraph, more: KnowledgeGraph, *, held_out: float = 0.05, seed: int = 0) -> Grown:
    """Adds the triples of all parts of `more`; names that are spelled the same are the same.

    Where `kg` has parts valid and test, `held_out` of the new triples go to each, as far as train keeps every name; its
    own held-out triples stay held out.
    """
    old = kg.vocabulary
    entities, entity_of = _join(old.entities, more.vocabulary.entities)
    relations, relation_of = _join(old.relations, more.vocabulary.relations)
    vocabulary = Vocabulary(
        entities,
        relations,
        _labels(old.labels, more.vocabulary.labels, entity_of, len(old.entities), len(entities)),
        _labels(old.relation_labels, more.vocabulary.relation_labels, relation_of, len(old.relations), len(relations)),
    )
    given = np.concatenate(list(more.splits.values()))
    mapped = np.stack([entity_of[given[:, 0]], 2 * relation_of[given[:, 1] >> 1], entity_of[given[:, 2]]], axis=1)
    sizes = vocabulary.entity_count, vocabulary.relation_count
    before = merge(np.concatenate([pack(part, *sizes) for part in kg.splits.values()]))
    fresh = np.setdiff1d(merge(pack(mapped, *sizes)), before, assume_unique=True)
    new = unpack(fresh, *sizes)
    splits = _divide(kg, new, held_out, seed, sizes)
    return Grown(
        KnowledgeGraph(kg.name, vocabulary, splits),
        new,
        len(entities) - len(old.entities),
        len(relations) - len(old.relations),
    )


def _divide(kg: KnowledgeGraph, new: Triples, held_out: float, seed: int, sizes: tuple[int, int]) -> dict[str, Triples]:
    """Returns the parts of the larger graph: new triples go to train, some that it can spare to the held-out parts.

    What an old triple of train states too is not held out: the model has learned it.
    """
    train = np.concatenate([kg.splits["train"], new])
    everything = np.concatenate([*kg.splits.values(), new])
    statements = find_statements(train, find_restatements(everything, *sizes), *sizes)
    each = int(held_out * len(new)) if {"valid", "test"} <= kg.splits.keys() else 0
    order = len(kg.splits["train"]) + np.random.default_rng(seed).permutation(len(new))
    held = spared(train, order, 2 * each, *sizes, statements)
    first, second = cut(held, len(held) // 2, statements)
    stay = np.ones(len(train), np.bool_)
    stay[held] = False
    parts = {"train": train[stay]}
    for split, positions in (("valid", first), ("test", second)):
        if split in kg.splits:
            parts[split] = np.concatenate([kg.splits[split], train[positions]])
    return {split: unpack(merge(pack(part, *sizes)), *sizes) for split, part in parts.items()}


def _join(old: Names, more: Names) -> tuple[Names, npt.NDArray[np.int32]]:
    """Returns the old names with the new ones after them, and the position of each name of `more` among them."""
    positions = np.empty(len(more), np.int32)
    added: list[str] = []
    for position, name in enumerate(more):
        known = old.find(name)
        positions[position] = known[0] if known else len(old) + len(added)
        if not known:
            added.append(name)
    return (Names.of([*old, *added]) if added else old), positions


def _labels(
    old: Names | None, more: Names | None, positions: npt.NDArray[np.int32], before: int, count: int
) -> Names | None:
    if old is None and more is None:
        return None
    labels = [*(old if old is not None else [""] * before), *[""] * (count - before)]
    for position, label in zip(positions.tolist(), more if more is not None else [], strict=False):
        labels[position] = labels[position] or label
    return Names.of(labels)
