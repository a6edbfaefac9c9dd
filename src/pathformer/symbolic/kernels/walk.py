"""Draws queries: random walks out of the graph, and the rules that accept or reject their queries.

Every draw has its own generator state, seeded by the caller, so the result depends on the seed and on nothing else.
"""

from __future__ import annotations

import numpy as np

from pathformer.compiled import compiled
from pathformer.symbolic.kernels.evaluate import evaluate
from pathformer.symbolic.kernels.program import ANCHOR, ENDLESS, KEEP, LARGE, RETURN, SMALL, STEP

__all__ = ["ACCEPTED", "BROKEN", "EMPTY", "NO_HARD", "NO_VANISHED", "OVER_LIMIT", "draw"]

_TRIES = 40  # relations tried at a hop before the walk is given up, as in the reference code
ACCEPTED, BROKEN, EMPTY, NO_HARD, NO_VANISHED, OVER_LIMIT = range(6)  # the result of an attempt


@compiled
def _next_random(state):
    """Returns the next 64 bits of a SplitMix64 stream (Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def _below(state, bound):
    """Returns a uniform integer in 0 .. bound - 1, for bounds under 2^31."""
    return np.int64(((_next_random(state) >> np.uint64(33)) * np.uint64(bound)) >> np.uint64(31))


@compiled
def _hop(edges, state, entity, barred):
    """Returns a random pair of `entity` whose relation is not `barred`; -1 if none was found."""
    first, last = edges.head_ptr[entity], edges.head_ptr[entity + 1]
    if first == last:
        return np.int64(-1)
    for _ in range(_TRIES):
        pair = first + _below(state, last - first)
        if edges.pair_relation[pair] != barred:
            return pair
    return np.int64(-1)


@compiled
def _random_tail(edges, state, pair):
    """Returns a uniformly drawn tail of a pair."""
    first, last = edges.pair_ptr[pair], edges.pair_ptr[pair + 1]
    return edges.tails[first + _below(state, last - first)]


@compiled
def _walk_backward(walk, edges, state, entity, row, kept):
    """Fills `row` so that `entity` satisfies every branch, negations ignored; returns False if a walk found no way on.

    An edge into an entity is an inverse edge out of it, so the relation of a hop is the pair's, inverted. A hop may not
    be the inverse of the hop after it; at a fork this rule starts over.
    """
    depth = -1
    barred = np.int32(-1)  # the pair relation that would undo the hop just made
    for step in range(len(walk)):
        operation, column = walk[step, 0], walk[step, 1]
        if operation == STEP:
            pair = _hop(edges, state, entity, barred)
            if pair < 0:
                return False
            out = edges.pair_relation[pair]
            row[column] = out ^ 1
            barred = out ^ 1
            entity = _random_tail(edges, state, pair)
        elif operation == ANCHOR:
            row[column] = entity
        elif operation == KEEP:
            depth += 1
            kept[depth] = entity
        elif operation == RETURN:
            entity = kept[depth]
            barred = np.int32(-1)
        else:
            depth -= 1
    return True


@compiled
def _walk_forward(edges, state, entity, row):
    """Fills the row of a chain from its anchor on; returns False if the walk found no way on."""
    row[0] = entity
    barred = np.int32(-1)
    for column in range(1, len(row)):
        pair = _hop(edges, state, entity, barred)
        if pair < 0:
            return False
        row[column] = edges.pair_relation[pair]
        barred = row[column] ^ 1
        entity = _random_tail(edges, state, pair)
    return True


@compiled
def _has_twins(twins, row):
    """Whether two sibling branches of the same shape hold the same ids."""
    for pair in range(len(twins)):
        one, other, width = twins[pair, 0], twins[pair, 1], twins[pair, 2]
        same = True
        for offset in range(width):
            if row[one + offset] != row[other + offset]:
                same = False
                break
        if same:
            return True
    return False


@compiled
def _judge(answer, capped, row, edges, space, pair_of_graphs, negated, limit):
    """Judges a query: on two graphs it needs hard answers and, if negated, vanished ones, and not too many of either.

    With one graph, counting can stop at the limit; with two, hard answers may still turn out to be easy.
    """
    count, rest = evaluate(answer, row, edges, space, capped, ENDLESS if pair_of_graphs or limit < 0 else limit)
    if count < 0:
        return OVER_LIMIT
    small_only = large_only = large = 0
    for position in range(count):
        membership = space.bits[position]
        large += (membership & LARGE) != 0
        large_only += membership == LARGE
        small_only += membership == SMALL
    if rest:
        large = len(space.where)  # a complement: as good as everything
    if large == 0:
        return EMPTY
    if not pair_of_graphs:
        return OVER_LIMIT if 0 <= limit < large else ACCEPTED
    if large_only == 0:
        return NO_HARD
    if negated and small_only == 0:
        return NO_VANISHED
    if 0 <= limit < max(large_only, small_only):
        return OVER_LIMIT
    return ACCEPTED


@compiled
def _hash_row(row):
    """Returns 64 well-mixed bits of a row, never 0, which marks an unused slot."""
    key = np.uint64(0x2545F4914F6CDD1D)
    for column in range(len(row)):
        key = (key ^ np.uint64(row[column])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key | np.uint64(1)


@compiled
def draw(
    answer, capped, walk, twins, forward, starts, begin, edges, space, seed,
    judged, pair_of_graphs, negated, limit, keys, fates, rows, tally,
):  # fmt: skip
    """Makes an attempt for every row of `rows` (attempts, k); accepted ones stay there in order, fates go to `tally`.

    Attempt i starts from entity begin + i of `starts`, which wraps around. Walks meet the same queries often, those of
    hubs most of all, so the fates of judged rows are remembered in keys, fates (2^m): one slot for each row, the newest
    stays. The memory never changes which queries are drawn. Returns how many were accepted.
    """
    state = np.empty(1, np.uint64)
    state[0] = seed
    kept = np.empty(len(walk) + 1, np.int64)
    accepted = 0
    for attempt in range(len(rows)):
        row = rows[accepted]
        entity = np.int64(starts[(begin + attempt) % len(starts)])
        if forward:
            found = _walk_forward(edges, state, entity, row)
        else:
            found = _walk_backward(walk, edges, state, entity, row, kept)
        fate = BROKEN
        if found and not _has_twins(twins, row):
            fate = ACCEPTED
            if judged:
                key = _hash_row(row)
                slot = key & np.uint64(len(keys) - 1)
                if keys[slot] == key:
                    fate = int(fates[slot])
                else:
                    fate = _judge(answer, capped, row, edges, space, pair_of_graphs, negated, limit)
                    keys[slot], fates[slot] = key, fate
        tally[fate] += 1
        accepted += fate == ACCEPTED
    return accepted
