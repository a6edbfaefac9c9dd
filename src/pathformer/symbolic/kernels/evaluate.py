"""Answers queries on two nested graphs at once: runs a program on a stack of sets, in compiled code."""

from __future__ import annotations

import numpy as np

from pathformer.compiled import compiled
from pathformer.symbolic.kernels.program import (
    ANCHOR,
    BOTH,
    ENDLESS,
    EXCLUDE,
    INTERSECT,
    LARGE,
    NARROW,
    NEGATE,
    PROJECT,
    SMALL,
)
from pathformer.symbolic.kernels.sets import exclude, find_pair, flip, intersect, narrow, project

__all__ = ["answer_rows", "evaluate"]


@compiled
def evaluate(answer, row, edges, space, capped, cap):
    """Runs an answer program on a row of ids; the set is left at 0:n of the stack. Returns n and its rest.

    If more than `cap` answers are of no interest, step `capped` (`Program.capped`) may stop early: then n is -1. Only
    entities that the complements below it list, or that the links after it hold, can still be taken from its set.
    """
    start, rest = space.start, space.rest
    top, end = -1, np.int64(0)
    for step in range(len(answer)):
        operation, column = answer[step, 0], answer[step, 1]
        if operation == ANCHOR:
            top += 1
            start[top], rest[top] = end, 0
            space.ids[end], space.bits[end] = row[column], BOTH
            end += 1
        elif operation == PROJECT:
            most = ENDLESS
            if step == capped and cap < ENDLESS:
                most = cap + start[top] + _count_linked(answer, step, row, edges)
            end = project(edges, space, start[top], end, rest[top], row[column], most)
            if end < 0:
                return end, np.uint8(0)
            rest[top] = 0
        elif operation == NARROW:
            end = narrow(edges, space, start[top], end, row[column], row[column + 1])
        elif operation == EXCLUDE:
            end = exclude(edges, space, start[top], end, row[column], row[column + 1])
        elif operation == NEGATE:
            flip(space, start[top], end)
            rest[top] ^= BOTH
        else:
            end = _join(space, operation, top, end)
            top -= 1
    return end, rest[0]


@compiled
def _count_linked(answer, step, row, edges):
    """Counts the entities of the links that are excluded after a step."""
    count = np.int64(0)
    for later in range(step + 1, len(answer)):
        if answer[later, 0] == EXCLUDE:
            column = answer[later, 1]
            pair = find_pair(edges.head_ptr, edges.pair_relation, row[column], row[column + 1])
            if pair >= 0:
                count += edges.pair_ptr[pair + 1] - edges.pair_ptr[pair]
    return count


@compiled
def _join(space, operation, top, end):
    """Intersects or unites the two topmost sets; returns the end of the result."""
    start, rest = space.start, space.rest
    first, middle = start[top - 1], start[top]
    if operation == INTERSECT:
        end = intersect(space, first, middle, end, rest[top - 1], rest[top])
        rest[top - 1] &= rest[top]
        return end
    flip(space, first, end)  # a union, by De Morgan
    end = intersect(space, first, middle, end, rest[top - 1] ^ BOTH, rest[top] ^ BOTH)
    rest[top - 1] |= rest[top]
    flip(space, first, end)
    return end


@compiled
def answer_rows(answer, rows, begin, edges, space, easy, hard, easy_ends, hard_ends):
    """Answers rows from `begin` on until all are done or the output is full; returns the first row that is not done.

    easy gets the answers on the smaller graph, hard those on the larger graph alone; *_ends (n): where the answers of
    each row end. A row is begun only if all entities would still fit, so that no write needs a check.
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
        for position in range(count):
            if space.bits[position] & SMALL:
                easy[easy_end] = space.ids[position]
                easy_end += 1
            elif space.bits[position] & LARGE:
                hard[hard_end] = space.ids[position]
                hard_end += 1
        easy[easy_from:easy_end].sort()
        hard[hard_from:hard_end].sort()
        easy_ends[query], hard_ends[query] = easy_end, hard_end
    return len(rows)


@compiled
def _spell_out(space, count, entities):
    """Turns a complement into a plain set over all entities; returns its size."""
    membership = np.full(entities, BOTH, np.uint8)
    for position in range(count):
        membership[space.ids[position]] = space.bits[position]
    for entity in range(entities):
        space.ids[entity], space.bits[entity] = entity, membership[entity]
    return entities
