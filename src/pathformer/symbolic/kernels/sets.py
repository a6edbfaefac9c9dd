"""Operations on sets of entities (`program`): projection, intersection, complement, and joining with a single link."""

from __future__ import annotations

import numpy as np

from pathformer.compiled import compiled
from pathformer.symbolic.kernels.program import BOTH

__all__ = ["exclude", "find_pair", "flip", "intersect", "narrow", "project"]

_SCAN = 16  # a step of a scan over a relation's heads costs about a sixteenth of a search in one head's relations


@compiled
def find_pair(head_ptr, pair_relation, head, relation):
    """Returns the index of (head, relation) among the pairs, or -1."""
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


@compiled
def _spread(tails, edge_bits, begin, end, membership, ids, bits, seen, first, last, most):
    """Adds the tails of edges begin:end that share a bit with `membership` to the segment first:last; returns its end.

    Stops when the segment has more than `most` entries. Takes plain arrays: passing a tuple of arrays would cost more
    than the work.
    """
    for edge in range(begin, end):
        gained = membership & edge_bits[edge]
        if gained == 0:
            continue
        tail = tails[edge]
        position = seen[tail]
        if first <= position < last and ids[position] == tail:
            bits[position] |= gained
            continue
        ids[last], bits[last], seen[tail] = tail, gained, last
        last += 1
        if last - first > most:
            break
    return last


@compiled
def _register(where, ids, first, last):
    """Makes `where` describe the segment first:last."""
    for position in range(first, last):
        where[ids[position]] = position


@compiled
def _move(space, first, last, to):
    """Shifts the segment first:last down to `to`; returns its new end."""
    if to != first:
        for offset in range(last - first):
            space.ids[to + offset] = space.ids[first + offset]
            space.bits[to + offset] = space.bits[first + offset]
    return to + last - first


@compiled
def _copy(edges, space, pair, membership, first):
    """Writes the tails of a pair, which are distinct, from `first` on; returns the end."""
    ids, bits = space.ids, space.bits
    for edge in range(edges.pair_ptr[pair], edges.pair_ptr[pair + 1]):
        gained = membership & edges.bits[edge]
        ids[first], bits[first] = edges.tails[edge], gained
        first += gained != 0
    return first


@compiled
def project(edges, space, first, last, rest, relation, most):
    """Replaces the segment first:last by its tails under `relation`; returns the new end, or -1 past `most` tails."""
    if last - first == 1 and not rest:  # a set of one, as every anchor is
        pair = find_pair(edges.head_ptr, edges.pair_relation, space.ids[first], relation)
        return first if pair < 0 else _copy(edges, space, pair, space.bits[first], first)
    heads = edges.relation_ptr[relation + 1] - edges.relation_ptr[relation]
    if rest or heads < _SCAN * (last - first):
        out = _project_by_scan(edges, space, first, last, rest, relation, most)
    else:
        out = _project_by_search(edges, space, first, last, relation, most)
    return np.int64(-1) if out - last > most else _move(space, last, out, first)


@compiled
def _project_by_search(edges, space, first, last, relation, most):
    """Looks up the relations of every entity; writes from `last` on and returns the end."""
    head_ptr, pair_relation, pair_ptr = edges.head_ptr, edges.pair_relation, edges.pair_ptr
    tails, edge_bits = edges.tails, edges.bits
    ids, bits, seen = space.ids, space.bits, space.seen
    out = last
    for position in range(first, last):
        pair = find_pair(head_ptr, pair_relation, ids[position], relation)
        if pair >= 0:
            begin, end = pair_ptr[pair], pair_ptr[pair + 1]
            out = _spread(tails, edge_bits, begin, end, bits[position], ids, bits, seen, last, out, most)
            if out - last > most:
                break
    return out


@compiled
def _project_by_scan(edges, space, first, last, rest, relation, most):
    """Looks up every head of the relation in the set; writes from `last` on and returns the end.

    The heads lie side by side, so this is faster for all but small sets, and a complement needs it.
    """
    relation_head, relation_pair, pair_ptr = edges.relation_head, edges.relation_pair, edges.pair_ptr
    tails, edge_bits = edges.tails, edges.bits
    ids, bits, where, seen = space.ids, space.bits, space.where, space.seen
    _register(where, ids, first, last)
    out = last
    for index in range(edges.relation_ptr[relation], edges.relation_ptr[relation + 1]):
        head = relation_head[index]
        position = where[head]
        membership = bits[position] if first <= position < last and ids[position] == head else rest
        if membership:
            begin, end = pair_ptr[relation_pair[index]], pair_ptr[relation_pair[index] + 1]
            out = _spread(tails, edge_bits, begin, end, membership, ids, bits, seen, last, out, most)
            if out - last > most:
                break
    return out


@compiled
def exclude(edges, space, first, last, head, relation):
    """Removes the tails of (head, relation) from the segment first:last, not a complement; returns the new end."""
    pair = find_pair(edges.head_ptr, edges.pair_relation, head, relation)
    if pair < 0:
        return last
    ids, bits, where, tails, edge_bits = space.ids, space.bits, space.where, edges.tails, edges.bits
    begin, end = edges.pair_ptr[pair], edges.pair_ptr[pair + 1]
    if _SCAN * (last - first) < end - begin:  # few entities: search each among the tails, which ascend
        for position in range(first, last):
            edge = begin + np.searchsorted(tails[begin:end], ids[position])
            if edge < end and tails[edge] == ids[position]:
                bits[position] &= BOTH ^ edge_bits[edge]
    else:
        _register(where, ids, first, last)
        for edge in range(begin, end):
            position = where[tails[edge]]
            if first <= position < last and ids[position] == tails[edge]:
                bits[position] &= BOTH ^ edge_bits[edge]
    out = first
    for position in range(first, last):
        if bits[position]:
            ids[out], bits[out] = ids[position], bits[position]
            out += 1
    return out


@compiled
def narrow(edges, space, first, last, head, relation):
    """Intersects the segment first:last, not a complement, with the tails of (head, relation); returns the new end."""
    pair = find_pair(edges.head_ptr, edges.pair_relation, head, relation)
    if pair < 0:
        return first
    ids, bits, where, tails, edge_bits = space.ids, space.bits, space.where, edges.tails, edges.bits
    begin, end = edges.pair_ptr[pair], edges.pair_ptr[pair + 1]
    out = first
    if _SCAN * (last - first) < end - begin:  # few entities: search each among the tails, which ascend
        for position in range(first, last):
            edge = begin + np.searchsorted(tails[begin:end], ids[position])
            both = bits[position] & edge_bits[edge] if edge < end and tails[edge] == ids[position] else np.uint8(0)
            if both:
                ids[out], bits[out] = ids[position], both
                out += 1
        return out
    _register(where, ids, first, last)
    out = last
    for edge in range(begin, end):
        position = where[tails[edge]]
        if first <= position < last and ids[position] == tails[edge] and bits[position] & edge_bits[edge]:
            ids[out], bits[out] = tails[edge], bits[position] & edge_bits[edge]
            out += 1
    return _move(space, last, out, first)


@compiled
def intersect(space, first, middle, last, rest_one, rest_two):
    """Intersects the segments first:middle and middle:last in place; returns the new end."""
    ids, bits, where = space.ids, space.bits, space.where
    if rest_one and rest_two:  # two complements: merge the lists of what they exclude
        _register(where, ids, first, middle)
        out = middle
        for position in range(middle, last):
            found = where[ids[position]]
            if first <= found < middle and ids[found] == ids[position]:
                bits[found] &= bits[position]
            else:
                ids[out], bits[out] = ids[position], bits[position]
                out += 1
        return out
    # Go through the list of a plain set and look up the other; entities that the other does not list have its rest.
    if rest_one:
        _register(where, ids, first, middle)
        low, high, walk_from, walk_to, rest = first, middle, middle, last, rest_one
    else:
        _register(where, ids, middle, last)
        low, high, walk_from, walk_to, rest = middle, last, first, middle, rest_two
    out = walk_from  # never ahead of the walk, and never on the registered segment
    for position in range(walk_from, walk_to):
        entity = ids[position]
        found = where[entity]
        both = bits[position] & (bits[found] if low <= found < high and ids[found] == entity else rest)
        if both:
            ids[out], bits[out] = entity, both
            out += 1
    return _move(space, walk_from, out, first)


@compiled
def flip(space, first, last):
    """Complements the listed memberships."""
    for position in range(first, last):
        space.bits[position] ^= BOTH
