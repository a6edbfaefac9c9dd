"""Rows of numbers as indexes keep them: float32, or bf16 as the upper half of a float32's bits (uint16).

N rows, D columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["to_bf16", "to_float32"]


def to_float32(stored: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Returns stored rows as float32."""
    if stored.dtype == np.uint16:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return np.asarray(stored, np.float32)


def to_bf16(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Returns finite rows in bf16, rounded to the nearest, ties to even."""
    bits = np.ascontiguousarray(rows, np.float32).view(np.uint32)
    rounded: npt.NDArray[np.uint16] = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return rounded
