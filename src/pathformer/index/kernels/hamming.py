"""Makes codes of bits and finds the entities whose codes differ least from a point's, on the processor.

R points, N entities, D dimensions, W words of 64 bits, C candidates.

Codes lie transposed in blocks, as rows do in `scan`: a word of 128 entities side by side, so that counting the
differing bits is vectorised over entities (AVX-512 counts the bits of eight words at once). Counts are small integers,
so the C smallest of them are found by a histogram, without sorting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from pathformer.compiled import compiled, share, thread_count

__all__ = ["candidates", "differences", "pack", "threshold_codes"]

_COUNTS = 1 << 25  # bytes of counts at once, 2 N a point


def pack(bits: np.ndarray) -> np.ndarray:
    """Packs bits (N, 64 W) into words (N, W), the first bit lowest."""
    return np.ascontiguousarray(np.packbits(bits, axis=1, bitorder="little")).view(np.uint64)


def threshold_codes(rows: np.ndarray, dimensions: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Makes codes whose bit b is [row[dimensions[b]] > thresholds[b]]: (N, D) float32 -> (N, W), 64 W thresholds."""
    codes = np.zeros((len(rows), len(thresholds) // 64), np.uint64)
    threads = min(thread_count(), max(1, len(rows)))
    share(lambda _, first, last: _encode(rows, dimensions, thresholds, first, last, codes), len(rows), threads)
    return codes


def differences(codes: np.ndarray, blocks: np.ndarray, count: int) -> np.ndarray:
    """Counts the bits that differ: codes (R, W), blocks (ceil(N / 128), W, 128) -> (R, N) uint16."""
    counts = np.empty((len(codes), count), np.uint16)
    threads = min(thread_count(), len(blocks))
    share(lambda _, first, last: _count(codes, blocks, first, last, counts), len(blocks), threads)
    return counts


def candidates(codes: np.ndarray, blocks: np.ndarray, keep: np.ndarray, count: int) -> np.ndarray:
    """Returns the `count` kept entities whose codes differ least, by ascending id; of equal ones the first.

    codes (R, W), blocks (ceil(N / 128), W, 128), keep (N,) bool -> (R, count) int64, -1 where there are no more.
    """
    found = np.full((len(codes), count), -1, np.int64)
    at_once = max(1, _COUNTS // (2 * len(keep)))
    for start in range(0, len(codes), at_once):
        part = slice(start, start + at_once)
        _choose_all(differences(codes[part], blocks, len(keep)), keep, 64 * codes.shape[1], found[part])
    return found


def _choose_all(counts: np.ndarray, keep: np.ndarray, bits: int, chosen: np.ndarray) -> None:
    threads = min(thread_count(), len(counts))
    share(lambda _, first, last: _choose(counts, keep, bits, first, last, chosen), len(counts), threads)


def _bit_count(typing, word):
    """Counts the bits of a word that are set; LLVM has an instruction for it."""
    return types.uint64(types.uint64), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])


_ones: Any = intrinsic(_bit_count)


@compiled
def _encode(rows, dimensions, thresholds, first, last, codes):
    for n in range(first, last):
        row = rows[n]
        for word in range(codes.shape[1]):
            bits = np.uint64(0)
            for b in range(64):
                number = 64 * word + b
                bits |= np.uint64(row[dimensions[number]] > thresholds[number]) << np.uint64(b)
            codes[n, word] = bits


@compiled
def _count(codes, blocks, first, last, counts):
    count, size = counts.shape[1], blocks.shape[2]
    sums = np.empty(size, np.uint64)
    for block in range(first, last):
        start = block * size
        used = min(size, count - start)
        for row in range(len(codes)):
            sums[:] = 0
            for w in range(codes.shape[1]):
                code, entities = codes[row, w], blocks[block, w]
                for n in range(size):
                    sums[n] += _ones(code ^ entities[n])
            for n in range(used):
                counts[row, start + n] = sums[n]


@compiled
def _choose(counts, keep, bits, first, last, chosen):
    wanted = chosen.shape[1]
    for row in range(first, last):
        entries = counts[row]
        histogram = np.zeros(bits + 1, np.int64)
        for n in range(len(entries)):
            histogram[entries[n]] += keep[n]
        limit, below = 0, 0
        while limit <= bits and below + histogram[limit] <= wanted:
            below += histogram[limit]
            limit += 1
        equal = wanted - below  # of those at the limit, so many still fit
        slot = 0
        for n in range(len(entries)):
            if entries[n] < limit and keep[n]:
                chosen[row, slot] = n
                slot += 1
            elif entries[n] == limit and equal > 0 and keep[n]:
                chosen[row, slot] = n
                slot += 1
                equal -= 1
