"""Divides read triples into train, valid and test by the benchmark's rules.

Entities and relations are those of train. A valid or test triple that names another is dropped, since no model could
have met it; one that an earlier split holds already is dropped, since it is no longer unseen. Both are counted.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pathformer.kg.keys import merged, pack, unpack
from pathformer.kg.report import Report

__all__ = ["SPLITS", "assemble"]

SPLITS = ("train", "valid", "test")

Triples = npt.NDArray[np.int32]


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
        keys = merged(pack(known, entities, relations))
        fresh = keys[~_contained(keys, earlier)] if len(earlier) else keys
        report += Report(
            lines=len(triples),
            unseen=len(triples) - len(known),
            duplicates=len(known) - len(keys),
            repeated=len(keys) - len(fresh),
        )
        splits[split] = unpack(fresh, entities, relations)
        earlier = merged(np.concatenate([earlier, fresh])) if len(earlier) else fresh
    return splits, report


def _contained(keys: npt.NDArray[np.int64], earlier: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    places = np.minimum(np.searchsorted(earlier, keys), len(earlier) - 1)
    return np.equal(earlier[places], keys)
