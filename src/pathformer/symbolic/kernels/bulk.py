"""The answers of many queries of one structure, written out as ragged rows."""

from __future__ import annotations

import numpy as np

from pathformer.loops import compiled
from pathformer.symbolic.kernels.evaluate import evaluate
from pathformer.symbolic.stack import BOTH, ENDLESS, LARGE, SMALL

__all__ = ["answer_rows"]


@compiled
def answer_rows(answer, rows, begin, edges, space, easy, hard, easy_ends, hard_ends):
    """Answer rows from `begin` on until they are done or the output is full; returns the first row not done.

    easy gets the answers on the smaller graph, hard those on the larger alone; *_ends (n): where each row's answers
    end. A row is begun only if all entities would still fit, so that no write needs a check.
    """
    entities = len(space.where)
    easy_end = hard_end = 0
    for query in range(begin, len(rows)):
        if easy_end + entities > len(easy) or hard_end + entities > len(hard):
            return query
        count, rest = evaluate(answer, rows[query], edges, space, -1, ENDLESS)
        if rest:
            count = _spell_out(space, count, entities)
        easy_from, hard_from = easy_end, hard_end
        for place in range(count):
            if space.bits[place] & SMALL:
                easy[easy_end] = space.ids[place]
                easy_end += 1
            elif space.bits[place] & LARGE:
                hard[hard_end] = space.ids[place]
                hard_end += 1
        easy[easy_from:easy_end].sort()
        hard[hard_from:hard_end].sort()
        easy_ends[query], hard_ends[query] = easy_end, hard_end
    return len(rows)


@compiled
def _spell_out(space, count, entities):
    """Turn a complement into a plain set of all entities; returns its size."""
    membership = np.full(entities, BOTH, np.uint8)
    for place in range(count):
        membership[space.ids[place]] = space.bits[place]
    for entity in range(entities):
        space.ids[entity], space.bits[entity] = entity, membership[entity]
    return entities
