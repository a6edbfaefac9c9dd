"""The answers of one query on two nested graphs at once, in compiled code.

A set is a segment of a stack: entity ids with two membership bits each (1: in the set on the smaller graph, 2: on the
larger), and one `rest` value for every entity that is not listed: 0, or BOTH for a complement. So a negation costs nothing
until something is projected from it, and one traversal yields easy, hard and vanished answers together.

Membership in a segment is looked up with a sparse set (Briggs and Torczon 1993): `where[e]` may hold anything, and is
believed only if it points into the segment at an entry that holds `e`. Nothing is ever cleared.
"""

from __future__ import annotations

from collections import namedtuple

import numba
import numpy as np

from pathformer.symbolic.program import ANCHOR, INTERSECT, NEGATE, PROJECT

__all__ = ["BOTH", "SMALL", "LARGE", "Edges", "Workspace", "evaluate", "workspace"]

SMALL, LARGE, BOTH = np.uint8(1), np.uint8(2), np.uint8(3)

# The arrays of a graph pair (see `kg.graph` for the first four). bits (E): BOTH for an edge of the smaller graph, LARGE for
# one that only the larger has. by_relation, relation_ptr: pairs grouped by relation, pair_head (P): only filled for
# programs that project from a complement.
Edges = namedtuple(
    "Edges", "head_ptr pair_relation pair_ptr tails bits relation_ptr by_relation pair_head"
)

# ids, bits: the stack; where (N): the sparse set; start, rest: a row for each set on the stack.
Workspace = namedtuple("Workspace", "ids bits where start rest")


def workspace(entities: int, depth: int) -> Workspace:
    """Room for the deepest program: each set holds at most all entities, and a projection writes beside its source.

    The memory is reserved, not touched: a query pays for the pages it uses.
    """
    room = (depth + 1) * entities + 1
    if room >= 2**31:
        raise MemoryError(f"{depth} sets of {entities:,} entities are more than places of 32 bits can tell apart")
    return Workspace(
        ids=np.empty(room, np.int32),
        bits=np.empty(room, np.uint8),
        where=np.empty(entities, np.int32),
        start=np.zeros(depth + 2, np.int64),
        rest=np.zeros(depth + 2, np.uint8),
    )


@numba.njit(nogil=True, cache=True, inline="always")
def find_pair(edges, head, relation):
    """The index of (head, relation) among the pairs, or -1."""
    low, end = edges.head_ptr[head], edges.head_ptr[head + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if edges.pair_relation[middle] < relation:
            low = middle + 1
        else:
            high = middle
    if low < end and edges.pair_relation[low] == relation:
        return low
    return np.int64(-1)


@numba.njit(nogil=True, cache=True)
def spread(edges, space, pair, membership, first, last):
    """Add the tails of a pair to the segment first:last, as far as `membership` carries; returns the new end."""
    ids, bits, where = space.ids, space.bits, space.where
    for edge in range(edges.pair_ptr[pair], edges.pair_ptr[pair + 1]):
        gained = membership & edges.bits[edge]
        if gained == 0:
            continue
        tail = edges.tails[edge]
        place = where[tail]
        if first <= place < last and ids[place] == tail:
            bits[place] |= gained
        else:
            ids[last], bits[last], where[tail] = tail, gained, last
            last += 1
    return last


@numba.njit(nogil=True, cache=True)
def register(space, first, last):
    """Make the segment first:last the one that `where` describes."""
    for place in range(first, last):
        space.where[space.ids[place]] = place


@numba.njit(nogil=True, cache=True)
def move(space, first, last, to):
    """Shift the segment first:last down to `to`; returns its new end."""
    if to != first:
        for offset in range(last - first):
            space.ids[to + offset] = space.ids[first + offset]
            space.bits[to + offset] = space.bits[first + offset]
    return to + last - first


@numba.njit(nogil=True, cache=True)
def project(edges, space, first, last, rest, relation):
    """Replace the segment first:last by its tails under `relation`; returns the new end."""
    out = last
    if rest == 0:
        for place in range(first, last):
            pair = find_pair(edges, space.ids[place], relation)
            if pair >= 0:
                out = spread(edges, space, pair, space.bits[place], last, out)
    else:
        out = project_complement(edges, space, first, last, relation)
    return move(space, last, out, first)


@numba.njit(nogil=True, cache=True)
def project_complement(edges, space, first, last, relation):
    """The tails of every head of `relation`, each with the membership it has; writes from `last` on.

    The listed entities are looked up by a scan of `where`, which the output must not disturb: heads are marked first.
    """
    register(space, first, last)
    begin, end = edges.relation_ptr[relation], edges.relation_ptr[relation + 1]
    carried = np.empty(end - begin, np.uint8)
    for index in range(begin, end):
        head = edges.pair_head[edges.by_relation[index]]
        place = space.where[head]
        listed = first <= place < last and space.ids[place] == head
        carried[index - begin] = space.bits[place] if listed else BOTH
    out = last
    for index in range(begin, end):
        if carried[index - begin]:
            out = spread(edges, space, edges.by_relation[index], carried[index - begin], last, out)
    return out


@numba.njit(nogil=True, cache=True)
def intersect(space, first, middle, last, rest_one, rest_two):
    """Intersect the segments first:middle and middle:last in place; returns the new end."""
    ids, bits, where = space.ids, space.bits, space.where
    if rest_one and rest_two:  # everything but what either lists: merge the lists
        register(space, first, middle)
        out = middle
        for place in range(middle, last):
            found = where[ids[place]]
            if first <= found < middle and ids[found] == ids[place]:
                bits[found] &= bits[place]
            else:
                ids[out], bits[out] = ids[place], bits[place]
                out += 1
        return out
    # Walk the list of a plain set and look the other up; entities the other does not list have its rest.
    if rest_one:
        register(space, first, middle)
        low, high, walk_from, walk_to, rest = first, middle, middle, last, rest_one
    else:
        register(space, middle, last)
        low, high, walk_from, walk_to, rest = middle, last, first, middle, rest_two
    out = walk_from  # never ahead of the walk, and never on the registered segment
    for place in range(walk_from, walk_to):
        entity = ids[place]
        found = where[entity]
        both = bits[place] & (bits[found] if low <= found < high and ids[found] == entity else rest)
        if both:
            ids[out], bits[out] = entity, both
            out += 1
    return move(space, walk_from, out, first)


@numba.njit(nogil=True, cache=True)
def flip(space, first, last):
    """Complement the listed memberships."""
    for place in range(first, last):
        space.bits[place] ^= BOTH


@numba.njit(nogil=True, cache=True)
def evaluate(answer, row, edges, space):
    """Run an answer program on a row of ids; the set is left at 0:n of the stack. Returns n and its rest."""
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
            end = project(edges, space, start[top], end, rest[top], row[column])
            rest[top] = 0
        elif operation == NEGATE:
            flip(space, start[top], end)
            rest[top] ^= BOTH
        else:
            first, middle = start[top - 1], start[top]
            united = operation != INTERSECT
            if united:  # by De Morgan
                flip(space, first, end)
                rest[top - 1] ^= BOTH
                rest[top] ^= BOTH
            end = intersect(space, first, middle, end, rest[top - 1], rest[top])
            top -= 1
            rest[top] &= rest[top + 1]
            if united:
                flip(space, first, end)
                rest[top] ^= BOTH
    return end, rest[0]
