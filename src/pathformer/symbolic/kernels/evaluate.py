"""The answers of one query on two nested graphs at once, in compiled code.

A set is a segment of a stack: entity ids with two membership bits each (1: in the set on the smaller graph, 2: on the
larger), and one `rest` value for every entity that is not listed: 0, or BOTH for a complement. So a negation costs
nothing until something is projected from it, and one traversal yields easy, hard and vanished answers together.

Membership in a segment is looked up with a sparse set (Briggs and Torczon 1993): `where[e]` may hold anything, and is
believed only if it points into the segment at an entry that holds `e`. Nothing is ever cleared.
"""

from __future__ import annotations

from collections import namedtuple

import numba
import numpy as np

from pathformer.symbolic.program import ANCHOR, EXCLUDE, INTERSECT, NARROW, NEGATE, PROJECT

__all__ = ["BOTH", "ENDLESS", "LARGE", "SMALL", "Edges", "Workspace", "evaluate", "workspace"]

SMALL, LARGE, BOTH = np.uint8(1), np.uint8(2), np.uint8(3)
ENDLESS = np.int64(2**62)

# The arrays of a graph pair (see `kg.graph` for the first four). bits (E): BOTH for an edge of the smaller graph,
# LARGE for one that only the larger has. The same pairs grouped by relation: those of relation r are relation_ptr[r]
# : relation_ptr[r + 1] of relation_head (P) and relation_pair (P).
Edges = namedtuple("Edges", "head_ptr pair_relation pair_ptr tails bits relation_ptr relation_head relation_pair")

# ids, bits: the stack. Two sparse sets (N): where for the set that is looked up, seen for the tails of a projection.
# start, rest: a row for each set on the stack.
Workspace = namedtuple("Workspace", "ids bits where seen start rest")

SCAN = 16  # a step of a scan over a relation's heads costs about a sixteenth of a search in one head's relations


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
        seen=np.empty(entities, np.int32),
        start=np.zeros(depth + 2, np.int64),
        rest=np.zeros(depth + 2, np.uint8),
    )


@numba.njit(nogil=True, cache=True)
def _find_pair(head_ptr, pair_relation, head, relation):
    """The index of (head, relation) among the pairs, or -1."""
    low, end = head_ptr[head], head_ptr[head + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if pair_relation[middle] < relation:
            low = middle + 1
        else:
            high = middle
    if low < end and pair_relation[low] == relation:
        return low
    return np.int64(-1)


@numba.njit(nogil=True, cache=True)
def _spread(tails, edge_bits, begin, end, membership, ids, bits, seen, first, last, most):
    """Add the tails of edges begin:end to the segment first:last, as far as `membership` carries; returns its new end.

    Stops when the segment has more than `most` entries. Takes plain arrays: a bundle of arrays handed to a function
    this small costs more than the function.
    """
    for edge in range(begin, end):
        gained = membership & edge_bits[edge]
        if gained == 0:
            continue
        tail = tails[edge]
        place = seen[tail]
        if first <= place < last and ids[place] == tail:
            bits[place] |= gained
            continue
        ids[last], bits[last], seen[tail] = tail, gained, last
        last += 1
        if last - first > most:
            break
    return last


@numba.njit(nogil=True, cache=True)
def _register(where, ids, first, last):
    """Make the segment first:last the one that `where` describes."""
    for place in range(first, last):
        where[ids[place]] = place


@numba.njit(nogil=True, cache=True)
def _move(space, first, last, to):
    """Shift the segment first:last down to `to`; returns its new end."""
    if to != first:
        for offset in range(last - first):
            space.ids[to + offset] = space.ids[first + offset]
            space.bits[to + offset] = space.bits[first + offset]
    return to + last - first


@numba.njit(nogil=True, cache=True)
def _copy(edges, space, pair, membership, first):
    """Write the tails of a pair from `first` on, unseen: they are distinct. Returns the end."""
    ids, bits = space.ids, space.bits
    for edge in range(edges.pair_ptr[pair], edges.pair_ptr[pair + 1]):
        gained = membership & edges.bits[edge]
        ids[first], bits[first] = edges.tails[edge], gained
        first += gained != 0
    return first


@numba.njit(nogil=True, cache=True)
def _project(edges, space, first, last, rest, relation, most):
    """Replace the segment first:last by its tails under `relation`; returns the new end, or -1 past `most` tails."""
    if last - first == 1 and not rest:  # a set of one, as every anchor is
        pair = _find_pair(edges.head_ptr, edges.pair_relation, space.ids[first], relation)
        return first if pair < 0 else _copy(edges, space, pair, space.bits[first], first)
    heads = edges.relation_ptr[relation + 1] - edges.relation_ptr[relation]
    if rest or heads < SCAN * (last - first):
        out = _project_by_scan(edges, space, first, last, rest, relation, most)
    else:
        out = _project_by_search(edges, space, first, last, relation, most)
    return np.int64(-1) if out - last > most else _move(space, last, out, first)


@numba.njit(nogil=True, cache=True)
def _project_by_search(edges, space, first, last, relation, most):
    """Look every entity's relations up; writes from `last` on and returns the end."""
    head_ptr, pair_relation, pair_ptr = edges.head_ptr, edges.pair_relation, edges.pair_ptr
    tails, edge_bits = edges.tails, edges.bits
    ids, bits, seen = space.ids, space.bits, space.seen
    out = last
    for place in range(first, last):
        pair = _find_pair(head_ptr, pair_relation, ids[place], relation)
        if pair >= 0:
            begin, end = pair_ptr[pair], pair_ptr[pair + 1]
            out = _spread(tails, edge_bits, begin, end, bits[place], ids, bits, seen, last, out, most)
            if out - last > most:
                break
    return out


@numba.njit(nogil=True, cache=True)
def _project_by_scan(edges, space, first, last, rest, relation, most):
    """Look every head of the relation up in the set; writes from `last` on and returns the end.

    The heads lie side by side, so for all but small sets this is the faster way, and for a complement the only one.
    """
    relation_head, relation_pair, pair_ptr = edges.relation_head, edges.relation_pair, edges.pair_ptr
    tails, edge_bits = edges.tails, edges.bits
    ids, bits, where, seen = space.ids, space.bits, space.where, space.seen
    _register(where, ids, first, last)
    out = last
    for index in range(edges.relation_ptr[relation], edges.relation_ptr[relation + 1]):
        head = relation_head[index]
        place = where[head]
        membership = bits[place] if first <= place < last and ids[place] == head else rest
        if membership:
            begin, end = pair_ptr[relation_pair[index]], pair_ptr[relation_pair[index] + 1]
            out = _spread(tails, edge_bits, begin, end, membership, ids, bits, seen, last, out, most)
            if out - last > most:
                break
    return out


@numba.njit(nogil=True, cache=True)
def _exclude(edges, space, first, last, head, relation):
    """Take the tails of (head, relation) out of the segment first:last, no complement; returns the new end."""
    pair = _find_pair(edges.head_ptr, edges.pair_relation, head, relation)
    if pair < 0:
        return last
    ids, bits, where, tails, edge_bits = space.ids, space.bits, space.where, edges.tails, edges.bits
    begin, end = edges.pair_ptr[pair], edges.pair_ptr[pair + 1]
    if SCAN * (last - first) < end - begin:  # few entities: search each among the tails, which ascend
        for place in range(first, last):
            edge = begin + np.searchsorted(tails[begin:end], ids[place])
            if edge < end and tails[edge] == ids[place]:
                bits[place] &= BOTH ^ edge_bits[edge]
    else:
        _register(where, ids, first, last)
        for edge in range(begin, end):
            place = where[tails[edge]]
            if first <= place < last and ids[place] == tails[edge]:
                bits[place] &= BOTH ^ edge_bits[edge]
    out = first
    for place in range(first, last):
        if bits[place]:
            ids[out], bits[out] = ids[place], bits[place]
            out += 1
    return out


@numba.njit(nogil=True, cache=True)
def _narrow(edges, space, first, last, head, relation):
    """Intersect the segment first:last, no complement, with the tails of (head, relation); returns the new end."""
    pair = _find_pair(edges.head_ptr, edges.pair_relation, head, relation)
    if pair < 0:
        return first
    ids, bits, where, tails, edge_bits = space.ids, space.bits, space.where, edges.tails, edges.bits
    begin, end = edges.pair_ptr[pair], edges.pair_ptr[pair + 1]
    out = first
    if SCAN * (last - first) < end - begin:  # few entities: search each among the tails, which ascend
        for place in range(first, last):
            edge = begin + np.searchsorted(tails[begin:end], ids[place])
            both = bits[place] & edge_bits[edge] if edge < end and tails[edge] == ids[place] else np.uint8(0)
            if both:
                ids[out], bits[out] = ids[place], both
                out += 1
        return out
    _register(where, ids, first, last)
    out = last
    for edge in range(begin, end):
        place = where[tails[edge]]
        if first <= place < last and ids[place] == tails[edge] and bits[place] & edge_bits[edge]:
            ids[out], bits[out] = tails[edge], bits[place] & edge_bits[edge]
            out += 1
    return _move(space, last, out, first)


@numba.njit(nogil=True, cache=True)
def _intersect(space, first, middle, last, rest_one, rest_two):
    """Intersect the segments first:middle and middle:last in place; returns the new end."""
    ids, bits, where = space.ids, space.bits, space.where
    if rest_one and rest_two:  # everything but what either lists: merge the lists
        _register(where, ids, first, middle)
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
        _register(where, ids, first, middle)
        low, high, walk_from, walk_to, rest = first, middle, middle, last, rest_one
    else:
        _register(where, ids, middle, last)
        low, high, walk_from, walk_to, rest = middle, last, first, middle, rest_two
    out = walk_from  # never ahead of the walk, and never on the registered segment
    for place in range(walk_from, walk_to):
        entity = ids[place]
        found = where[entity]
        both = bits[place] & (bits[found] if low <= found < high and ids[found] == entity else rest)
        if both:
            ids[out], bits[out] = entity, both
            out += 1
    return _move(space, walk_from, out, first)


@numba.njit(nogil=True, cache=True)
def _flip(space, first, last):
    """Complement the listed memberships."""
    for place in range(first, last):
        space.bits[place] ^= BOTH


@numba.njit(nogil=True, cache=True)
def evaluate(answer, row, edges, space, capped, cap):
    """Run an answer program on a row of ids; the set is left at 0:n of the stack. Returns n and its rest.

    Where more than `cap` answers are of no interest, step `capped` (`Program.capped`) may stop early: then n is -1.
    What can still be taken from its set is what the complements below it list and what the links after it hold.
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
                most = cap + start[top] + _linked(answer, step, row, edges)
            end = _project(edges, space, start[top], end, rest[top], row[column], most)
            if end < 0:
                return end, np.uint8(0)
            rest[top] = 0
        elif operation == NARROW:
            end = _narrow(edges, space, start[top], end, row[column], row[column + 1])
        elif operation == EXCLUDE:
            end = _exclude(edges, space, start[top], end, row[column], row[column + 1])
        elif operation == NEGATE:
            _flip(space, start[top], end)
            rest[top] ^= BOTH
        else:
            end = _join(space, operation, top, end)
            top -= 1
    return end, rest[0]


@numba.njit(nogil=True, cache=True)
def _linked(answer, step, row, edges):
    """How many entities the links that are excluded after a step hold."""
    count = np.int64(0)
    for later in range(step + 1, len(answer)):
        if answer[later, 0] == EXCLUDE:
            column = answer[later, 1]
            pair = _find_pair(edges.head_ptr, edges.pair_relation, row[column], row[column + 1])
            if pair >= 0:
                count += edges.pair_ptr[pair + 1] - edges.pair_ptr[pair]
    return count


@numba.njit(nogil=True, cache=True)
def _join(space, operation, top, end):
    """Intersect or unite the two topmost sets; returns the end of the result."""
    start, rest = space.start, space.rest
    first, middle = start[top - 1], start[top]
    if operation == INTERSECT:
        end = _intersect(space, first, middle, end, rest[top - 1], rest[top])
        rest[top - 1] &= rest[top]
        return end
    _flip(space, first, end)  # a union, by De Morgan
    end = _intersect(space, first, middle, end, rest[top - 1] ^ BOTH, rest[top] ^ BOTH)
    rest[top - 1] |= rest[top]
    _flip(space, first, end)
    return end
