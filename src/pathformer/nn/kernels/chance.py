"""Random bits by counting: a mask is a function of a seed and a place, so it need not be kept for the backward pass.

A 32-bit integer hash (two multiplications, three shifts) of place and seed; a tenth of the work of Philox, which at the
size of a hidden layer costs more than moving the numbers that are masked.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["keep"]


@triton.jit
def keep(seed, place, rate):
    """Whether to keep what is at `place`, true with probability 1 - rate, to 24 bits."""
    salt = seed.to(tl.uint32) * 0x9E3779B1 + 0x7F4A7C15
    bits = place.to(tl.uint32) ^ salt
    bits = (bits ^ (bits >> 16)) * 0x7FEB352D
    bits = (bits ^ (bits >> 15)) * 0x846CA68B
    bits = (bits ^ (bits >> 16)) + salt
    bits = (bits ^ (bits >> 15)) * 0x2C1B3C6D
    return ((bits ^ (bits >> 16)) >> 8).to(tl.float32) * 5.9604644775390625e-08 >= rate
