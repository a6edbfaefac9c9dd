"""Compiled loops of one hop: T'(v) = max_u both(T(u), M_r(u, v)), for some questions of one relation.

Q questions, N entities, k heads a question, U rows of links, G questions that this call is about.

    out (Q, N)      T', which is raised where a head gives more; what it holds counts as a candidate of the maximum
    via (Q, N)      the head that gave the maximum, and
    link (Q, N)     the probability of its link; neither is touched unless `traced`
    members (G,)    the questions
    heads (Q, k)    entities, the largest belief first; values (Q, k) their beliefs, 0 where there are no more
    index (G, k)    the row of each head among the U rows, -1 if it is not among them

Of equal candidates the first counts.
"""

from __future__ import annotations

import numpy as np

from pathformer.compiled import compiled

__all__ = ["best", "both", "raise_by_facts", "raise_by_lists", "raise_by_rows"]

PRODUCT, GOEDEL = 0, 1  # codes of `search.norms`
TILE = 2048  # entities: the maxima of a tile stay in the cache while all heads pass over it


@compiled
def both(norm, a, b):
    """Returns the t-norm of two beliefs; `search.norms` says why a certain part changes nothing."""
    if norm == PRODUCT:
        return a * b
    if norm == GOEDEL:
        return min(a, b)
    return max(np.float32(0), min(a, b) + (max(a, b) - np.float32(1)))


@compiled
def raise_by_rows(norm, members, heads, values, index, rows, traced, out, via, link):
    """Raises T' by whole rows of links (U, N)."""
    size = out.shape[1]
    places = np.empty(TILE, np.int32)
    for g in range(len(members)):
        q = members[g]
        for start in range(0, size, TILE):
            stop = min(start + TILE, size)
            place = places[: stop - start]
            place[:] = -1
            for j in range(heads.shape[1]):
                if values[q, j] <= 0:
                    break
                if index[g, j] >= 0:
                    row = rows[index[g, j], start:stop]
                    if traced:
                        _raise_traced(norm, values[q, j], row, out[q, start:stop], np.int32(j), place)
                    else:
                        _raise(norm, values[q, j], row, out[q, start:stop])
            if traced:
                for v in range(start, stop):
                    j = place[v - start]
                    if j >= 0:
                        via[q, v], link[q, v] = heads[q, j], rows[index[g, j], v]


@compiled
def _raise(norm, value, row, out):
    """Raises a tile; without a branch on the values, so that several are compared at once."""
    for v in range(len(row)):
        new = both(norm, value, row[v])
        out[v] = new if new > out[v] else out[v]


@compiled
def _raise_traced(norm, value, row, out, j, place):
    """Raises a tile, and writes j where it did."""
    for v in range(len(row)):
        new = both(norm, value, row[v])
        better = new > out[v]
        place[v] = j if better else place[v]
        out[v] = new if better else out[v]


@compiled
def raise_by_lists(norm, members, heads, values, index, ptr, tails, probabilities, traced, out, via, link):
    """Raises T' by rows that are lists of links: those of row i are [ptr[i] : ptr[i + 1]]."""
    for g in range(len(members)):
        q = members[g]
        for j in range(heads.shape[1]):
            value = values[q, j]
            if value <= 0:
                break
            if index[g, j] < 0:
                continue
            for position in range(ptr[index[g, j]], ptr[index[g, j] + 1]):
                v = tails[position]
                new = both(norm, value, probabilities[position])
                if new > out[q, v]:
                    out[q, v] = new
                    if traced:
                        via[q, v], link[q, v] = heads[q, j], probabilities[position]


@compiled
def raise_by_facts(members, beliefs, heads, tails, traced, out, via, link):
    """Raises T' by the facts of the relation from all entities: heads (F,), tails (F,), beliefs (Q, N) = T."""
    for g in range(len(members)):
        q = members[g]
        for fact in range(len(heads)):
            value, v = beliefs[q, heads[fact]], tails[fact]
            if value > out[q, v]:
                out[q, v] = value
                if traced:
                    via[q, v], link[q, v] = heads[fact], 1


@compiled
def best(beliefs, heads, values):
    """Writes the k entities of each row (Q, N) with the largest beliefs above 0, largest first, equal ones by id.

    heads, values (Q, k) hold zeros before, and keep them where there are fewer.
    """
    width = heads.shape[1]
    for q in range(len(beliefs)):
        count = 0
        for entity in range(beliefs.shape[1]):
            value = beliefs[q, entity]
            if count < width and value > 0:
                _sift_up(values[q], heads[q], count, value, entity)
                count += 1
            elif count == width and value > values[q, 0]:
                _sift_down(values[q], heads[q], count, value, entity)
        for last in range(count - 1, 0, -1):  # the heap's root, the smallest, goes behind all others
            value, entity = values[q, last], heads[q, last]
            values[q, last], heads[q, last] = values[q, 0], heads[q, 0]
            _sift_down(values[q], heads[q], last, value, entity)


@compiled
def _worse(value, entity, other, other_entity):
    return value < other or (value == other and entity > other_entity)


@compiled
def _sift_up(values, heads, slot, value, entity):
    """Puts an entry into the next slot of a heap whose root is the worst."""
    while slot > 0:
        above = (slot - 1) >> 1
        if not _worse(value, entity, values[above], heads[above]):
            break
        values[slot], heads[slot] = values[above], heads[above]
        slot = above
    values[slot], heads[slot] = value, entity


@compiled
def _sift_down(values, heads, size, value, entity):
    """Puts an entry in the place of the root."""
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        right = child + 1
        if right < size and _worse(values[right], heads[right], values[child], heads[child]):
            child = right
        if not _worse(values[child], heads[child], value, entity):
            break
        values[slot], heads[slot] = values[child], heads[child]
        slot = child
    values[slot], heads[slot] = value, entity
