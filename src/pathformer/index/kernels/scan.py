"""Finds the nearest of all rows on the processor, in one pass over the table.

R points, N entities, D dimensions, k wanted.

Entities lie transposed in blocks of 128, so that each sum runs over the dimensions in order, in float32, as in
`l1_rank`: the same bits. A block passes four points while it is in the cache and is then done with; of its distances
only those below a point's k-th smallest so far are kept, in a heap. Nothing of size N is written. A table in bf16
stays in bf16 and is widened in registers: one point reads 2 D N bytes, and the memory's rate is what it costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from pathformer.compiled import compiled, share, thread_count
from pathformer.index._scan import merge

__all__ = ["as_float32", "nearest"]


def _widening(typing, number):
    """A stored number as float32: uint16 is the upper half of its bits."""
    if number == types.float32:
        return types.float32(types.float32), lambda context, builder, signature, arguments: arguments[0]

    def upper_half(context, builder, signature, arguments):
        word = builder.zext(arguments[0], context.get_value_type(types.uint32))
        shifted = builder.shl(word, context.get_constant(types.uint32, 16))
        return builder.bitcast(shifted, context.get_value_type(types.float32))

    return types.float32(types.uint16), upper_half


as_float32: Any = intrinsic(_widening)


def nearest(
    points: np.ndarray, blocks: np.ndarray, keep: np.ndarray, k: int, factors: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Finds what `index._scan.nearest` promises."""
    dot = factors is not None
    factors = np.empty(0, np.float32) if factors is None else factors
    threads = min(thread_count(), len(blocks))
    distances = np.full((threads, len(points), k), np.inf, np.float32)
    ids = np.full((threads, len(points), k), -1, np.int64)

    def work(part: int, first: int, last: int) -> None:
        _scan(points, blocks, keep, dot, factors, first, last, distances[part], ids[part])

    share(work, len(blocks), threads)
    return merge(np.concatenate(ids, axis=1), np.concatenate(distances, axis=1), k)


@compiled
def _scan(points, blocks, keep, dot, factors, first, last, distances, ids):
    rows, count, size = len(points), len(keep), blocks.shape[2]
    sums = np.empty((4, size), np.float32)
    for block in range(first, last):
        start = block * size
        used = min(size, count - start)
        for row in range(0, rows, 4):
            group = min(4, rows - row)
            sums[:] = 0
            if group == 4:
                _add_four(points[row : row + 4], blocks[block], dot, sums)
            else:
                for j in range(group):
                    _add_one(points[row + j], blocks[block], dot, sums[j])
            for j in range(group):
                if dot:
                    for n in range(used):
                        sums[j, n] *= factors[start + n]
                _choose(sums[j], used, start, keep, distances[row + j], ids[row + j])


@compiled
def _add_one(point, block, dot, sums):
    width, size = block.shape
    for k in range(width):
        p, entities = point[k], block[k]
        if dot:
            for n in range(size):
                sums[n] -= p * as_float32(entities[n])
        else:
            for n in range(size):
                sums[n] += abs(p - as_float32(entities[n]))


@compiled
def _add_four(points, block, dot, sums):
    width, size = block.shape
    a, b, c, d = sums[0], sums[1], sums[2], sums[3]
    for k in range(width):
        pa, pb, pc, pd = points[0, k], points[1, k], points[2, k], points[3, k]
        entities = block[k]
        if dot:
            for n in range(size):
                e = as_float32(entities[n])
                a[n] -= pa * e
                b[n] -= pb * e
                c[n] -= pc * e
                d[n] -= pd * e
        else:
            for n in range(size):
                e = as_float32(entities[n])
                a[n] += abs(pa - e)
                b[n] += abs(pb - e)
                c[n] += abs(pc - e)
                d[n] += abs(pd - e)


@compiled
def _choose(sums, used, start, keep, distances, ids):
    """Puts each nearer entity into the heap in place of its farthest; ids ascend, so a tie never enters."""
    for n in range(used):
        if sums[n] < distances[0] and keep[start + n]:
            _replace_root(distances, ids, sums[n], start + n)


@compiled
def _replace_root(distances, ids, distance, entity):
    """Sinks a new entry into a heap whose root is the farthest, of equal ones the largest id."""
    size, slot = len(distances), 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            distances[right] > distances[child] or (distances[right] == distances[child] and ids[right] > ids[child])
        ):
            child = right
        if distances[child] < distance or (distances[child] == distance and ids[child] < entity):
            break
        distances[slot], ids[slot] = distances[child], ids[child]
        slot = child
    distances[slot], ids[slot] = distance, entity
