"""Random bits by counting: a mask is a function of a seed and a place, so it need not be kept for the backward pass.

A 32-bit integer hash (two multiplications, three shifts) of place and seed gives the bits of two neighbouring places,
16 each. Philox would cost a multiple: at the size of a hidden layer, more than moving the numbers that are masked.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["keep", "keep_row", "keep_run"]


@triton.jit
def _hash(seed, pair):
    bits = pair.to(tl.uint32) ^ (seed.to(tl.uint32) * 0x9E3779B1)
    bits = (bits ^ (bits >> 16)) * 0x7FEB352D
    bits = (bits ^ (bits >> 15)) * 0x846CA68B
    return bits ^ (bits >> 16)


@triton.jit
def keep(seed, place, rate):
    """Whether to keep what is at `place`, true with probability 1 - rate, to 16 bits."""
    bits = _hash(seed, place >> 1) >> ((place & 1) * 16).to(tl.uint32)
    return (bits & 0xFFFF).to(tl.float32) >= rate * 65536.0


@triton.jit
def keep_run(seed, pairs, rate):
    """`keep` for the places 2 pairs and 2 pairs + 1, side by side along the last axis: half the work."""
    bits = _hash(seed, pairs)
    return tl.interleave((bits & 0xFFFF).to(tl.float32), (bits >> 16).to(tl.float32)) >= rate * 65536.0


@triton.jit
def keep_row(seed, row, rate, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """The mask of one row, two places at a time where rows are of even length."""
    if WIDTH % 2 == 0:
        return keep_run(tl.load(seed), row * (WIDTH // 2) + tl.arange(0, BLOCK // 2), rate)
    else:  # noqa: RET505 (the compiler wants to see both branches)
        return keep(tl.load(seed), row * WIDTH + tl.arange(0, BLOCK), rate)
