"""Divides read triples into train, valid and test by the benchmark's rules.

Entities and relations are those of train. A valid or test triple that names another is dropped, since no model could
have met it; one that an earlier split holds already is dropped, since it is no longer unseen. Both are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from pathformer.kg.keys import merge, pack, unpack

__all__ = ["SPLITS", "Report", "assemble"]

SPLITS = ("train", "valid", "test")

Triples = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Counts of one reading."""

    lines: int = 0  # triples as written, before anything is merged or left out
    duplicates: int = 0  # lines that repeat a triple of their own split
    repeated: int = 0  # valid or test triples that an earlier split holds
    unseen: int = 0  # valid or test triples with an entity or relation that train lacks
    literals: int = 0  # RDF statements left out because their object is a literal
    literal_labels: int = 0  # of those, the ones that are the label of an entity
    skipped: int = 0  # bad lines, left out because the reader was asked to
    labels: int = 0  # entities that got a label
    notes: tuple[str, ...] = ()  # a bad line of each kind and file, as an example

    def __add__(self, other: Report) -> Report:
        return Report(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})


def assemble(parts: Mapping[str, Triples], entities: int, relations: int) -> tuple[dict[str, Triples], Report]:
    """Returns the sorted, distinct triples of each split, from triples (n, 3) of head, even relation, tail as read.

    An id of -1 marks a name that train lacks.
    """
    splits: dict[str, Triples] = {}
    earlier = np.empty(0, np.int64)
    report = Report()
    for split in SPLITS:
        if split not in parts:
            continue
        triples = parts[split]
        unseen = (triples < 0).any(axis=1) if split != "train" else np.zeros(len(triples), np.bool_)
        known = triples[~unseen] if unseen.any() else triples
        keys = merge(pack(known, entities, relations))
        fresh = keys[~_is_in(keys, earlier)] if len(earlier) else keys
        report += Report(
            lines=len(triples),
            unseen=len(triples) - len(known),
            duplicates=len(known) - len(keys),
            repeated=len(keys) - len(fresh),
        )
        splits[split] = unpack(fresh, entities, relations)
        earlier = merge(np.concatenate([earlier, fresh])) if len(earlier) else fresh
    return splits, report


def _is_in(keys: npt.NDArray[np.int64], earlier: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    positions = np.minimum(np.searchsorted(earlier, keys), len(earlier) - 1)
    return np.equal(earlier[positions], keys)
