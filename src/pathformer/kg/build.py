"""Builds a knowledge graph from batches of named triples, one split after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError
from pathformer.kg.arrow import names_of_array, strings
from pathformer.kg.formats._registry import Batch
from pathformer.kg.intern import Interner
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.labels import Labels, labels_for
from pathformer.kg.splits import SPLITS, Report, assemble
from pathformer.kg.vocabulary import Vocabulary

__all__ = ["batches_of", "build"]

_ROWS = 1 << 16  # Python tuples turned into a batch at once


def build(name: str, parts: Mapping[str, Iterable[Batch]]) -> KnowledgeGraph:
    """Numbers the names of train by first appearance, and the triples of all splits with those numbers."""
    entities, relations = Interner(2), Interner(1)
    tables: dict[str, npt.NDArray[np.int32]] = {}
    labels: dict[str, str] = {}
    met = Report()
    for split in (split for split in SPLITS if split in parts):
        for batch in parts[split]:
            entities.add(batch.heads, batch.tails)
            relations.add(batch.relations)
            labels.update((key, label) for key, label in batch.labels.items() if key not in labels)
            met += Report(skipped=batch.skipped, literals=batch.literals, notes=batch.notes)
        tables[split] = _table(*entities.take(), *relations.take())
    splits, report = assemble(tables, len(entities.names), 2 * len(relations.names))
    names = names_of_array(entities.names)
    own = labels_for(names, Labels.of(labels)) if labels else None
    vocabulary = Vocabulary(names, names_of_array(relations.names), own)
    count = vocabulary.labelled
    met += Report(labels=count, literal_labels=min(count, met.literals))  # none of those that are kept as entities
    return KnowledgeGraph(name, vocabulary, splits, report=report + met)


def batches_of(triples: Iterable[tuple[str, str, str]], where: str) -> Iterator[Batch]:
    """Yields Python tuples (head, relation, tail) as batches; `where` names them in a message."""
    table = hasattr(triples, "__arrow_c_stream__")
    if table or not isinstance(triples, Iterable):
        hint = ": a table is read by KnowledgeGraph.from_table" if table else ""
        raise InputError(f"{where} is a {type(triples).__name__}, expected tuples (head, relation, tail){hint}")
    rows, start = iter(triples), 0
    while some := list(islice(rows, _ROWS)):
        for position, triple in enumerate(some, start):
            _check(triple, f"{where} triple {position}")
        yield Batch(*(strings(column) for column in zip(*some, strict=True)))
        start += len(some)


def _table(
    heads: npt.NDArray[np.int32], tails: npt.NDArray[np.int32], relations: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    table = np.empty((len(heads), 3), np.int32)
    table[:, 0], table[:, 2] = heads, tails
    np.multiply(relations, 2, out=table[:, 1])  # an unknown relation stays negative
    return table


def _check(triple: object, where: str) -> None:
    row = triple if isinstance(triple, Collection) and not isinstance(triple, str) else ()
    if len(row) != 3 or not all(isinstance(name, str) and name for name in row):
        raise InputError(f"{where} is {triple!r}: expected three names (head, relation, tail), none of them empty")
