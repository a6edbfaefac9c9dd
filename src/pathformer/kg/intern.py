"""From names to ids: every distinct name gets the next number when it first appears in train."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from pathformer.errors import InputError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.splits import SPLITS, assemble
from pathformer.kg.vocab import Vocabulary

__all__ = ["intern_triples"]


def intern_triples(name: str, parts: Mapping[str, Iterable[tuple[str, str, str]]]) -> KnowledgeGraph:
    """A graph of Python tuples (head, relation, tail) a split."""
    entities: dict[str, int] = {}
    relations: dict[str, int] = {}
    tables = {}
    for split in SPLITS:
        rows: list[tuple[int, int, int]] = []
        for place, triple in enumerate(parts.get(split, ())):
            head, relation, tail = _checked(triple, split, place)
            if split == "train":
                for entity in (head, tail):
                    entities.setdefault(entity, len(entities))
                relations.setdefault(relation, 2 * len(relations))
            rows.append((entities.get(head, -1), relations.get(relation, -1), entities.get(tail, -1)))
        if split in parts:
            tables[split] = np.array(rows, np.int32).reshape(-1, 3)
    splits, report = assemble(tables, len(entities), 2 * len(relations))
    return KnowledgeGraph(name, Vocabulary.of(entities, relations), splits, report=report)


def _checked(triple: tuple[str, str, str], split: str, place: int) -> tuple[str, str, str]:
    if len(triple) != 3 or not all(isinstance(name, str) and name for name in triple):
        raise InputError(
            f"{split} triple {place} is {triple!r}: expected three names (head, relation, tail), none empty"
        )
    return triple
