"""A union whose disjuncts are weighed by probability (`Encoder.combine`), not by their smallest distance.

P points, one a disjunct; N entities, C of them looked at, S drawn ones.

    p_i(e) = exp(-Dist_i(e)) / sum_e' exp(-Dist_i(e'))        Dist(e) = -log sum_i p_i(e)

Each sum runs over all N entities. Where the table is small all of it is read, and the result is exact whatever the
index is. Else the terms that make up a sum are read, the barred entities and those that the index finds for a disjunct,
and the many far ones are estimated from S drawn at random, each of which stands for (N - the former) / S. A pass over
63,361 rows of 800 numbers took 140 to 300 ms of one core, one over an eighth of them 8 to 30.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pathformer.index._base import Index
from pathformer.plan.encoder import Encoder

__all__ = ["United", "unite"]

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

_WHOLE = 1 << 22  # numbers of a table that is read whole
_NEAR = 256  # entities a disjunct at least, of those that the index is asked for
_DRAWN = 2048  # S


class United(NamedTuple):
    """What a union found: `near` (K,) for K known answers, and the nearest others, nearest first."""

    near: Floats
    others: Ids
    distances: Floats


def unite(points: Floats, encoder: Encoder, index: Index, known: Ids, barred: Ids, top: int) -> United:
    """The distances of the known answers and the `top` nearest entities outside `barred`, which holds the known."""
    if encoder.entity_count * encoder.width <= _WHOLE:
        listed, stands = np.arange(encoder.entity_count), None
        found = np.delete(listed, np.union1d(barred, index.removed))
    else:
        found = np.setdiff1d(_found(points, index, barred, top), barred)
        listed, stands = _with_drawn(np.union1d(found, barred), encoder.entity_count)
    far = _distances(points, encoder, listed, stands)
    near = far[np.searchsorted(listed, found)]
    order = np.argsort(near, kind="stable")[:top]
    return United(far[np.searchsorted(listed, known)], found[order], near[order])


def _distances(points: Floats, encoder: Encoder, listed: Ids, stands: Floats | None) -> Floats:
    """Dist of the entities listed (C,), each of which stands for so many: (C,)."""
    apart = encoder.distances(points, listed if len(listed) < encoder.entity_count else None)  # (P, C)
    counts = np.zeros(1, np.float32) if stands is None else np.log(stands)
    shares = -apart - _log_sum(counts - apart, axis=1)[:, None]  # log p_i(e)
    return -_log_sum(shares, axis=0)


def _log_sum(logs: Floats, axis: int) -> Floats:
    """log sum exp along an axis."""
    largest = logs.max(axis=axis, keepdims=True)
    summed: Floats = np.log(np.exp(logs - largest).sum(axis=axis)) + largest.squeeze(axis)
    return summed


def _found(points: Floats, index: Index, barred: Ids, top: int) -> Ids:
    """Entities outside the barred ones that are among the nearest of a disjunct; none where none is wanted."""
    if not top:
        return np.empty(0, np.int64)
    allowed = np.ones(index.rows, np.bool_)
    allowed[barred] = False
    ids = index.nearest(points, min(max(_NEAR, 2 * top), index.rows), allowed).ids
    return np.unique(ids[ids >= 0])


def _with_drawn(read: Ids, entities: int) -> tuple[Ids, Floats]:
    """Adds random entities to those that are read: ids (C,), ascending, and how many each stands for, (C,)."""
    drawn = np.random.default_rng(0).integers(0, entities, _DRAWN)  # always the same: an answer is repeated exactly
    drawn = np.setdiff1d(drawn, read)
    listed = np.union1d(read, drawn)
    stands = np.ones(len(listed), np.float32)
    if len(drawn):
        stands[np.searchsorted(listed, drawn)] = (entities - len(read)) / len(drawn)
    return listed, stands
