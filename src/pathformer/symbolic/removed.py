"""What a negation takes away: entities that answer a query without its negated branches, and not with them.

    2in  r1(a, x) & !r2(b, x)      of the tails of (a, r1) those that are tails of (b, r2) too

In a ranking they are what a model of the positive part alone puts first: it knows them by heart.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pathformer.query.parts import positive_part
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.pairs import GraphPair
from pathformer.symbolic.queries import Queries, Ragged

__all__ = ["with_removed"]


def with_removed(queries: Queries, graphs: GraphPair) -> Queries:
    """The same queries with what their negated branches take away on the smaller graph."""
    part = positive_part(queries.structure)
    if part is None:
        return replace(queries, removed=Ragged.empty(len(queries)))
    structure, columns = part
    without, _ = answer_rows(structure, queries.ids[:, list(columns)], graphs)
    return replace(queries, removed=_difference(without, queries.easy))


def _difference(rows: Ragged, others: Ragged) -> Ragged:
    """What each row holds and its counterpart does not; both are ascending."""
    size = 1 + max(int(part.values.max(initial=0)) for part in (rows, others))
    left, right = (_keys(part, size) for part in (rows, others))
    place = np.searchsorted(right, left)
    kept = np.append(right, -1)[place] != left
    counts = np.bincount(left[kept] // size, minlength=len(rows))
    return Ragged(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), rows.values[kept])


def _keys(rows: Ragged, size: int) -> npt.NDArray[np.int64]:
    """One number for each value of each row, ascending."""
    owners: npt.NDArray[np.int64] = np.repeat(np.arange(len(rows), dtype=np.int64), rows.counts)
    return owners * size + rows.values
