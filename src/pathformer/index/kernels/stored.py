"""Tables as plain arrays for compiled loops: bf16 stays in two bytes, as the upper half of a float32's bits.

N rows, D columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import types
from numba.extending import intrinsic
from torch import Tensor

__all__ = ["as_stored", "as_tensor", "wide", "widened"]


def as_stored(table: Tensor) -> np.ndarray:
    """A table (N, D) as plain numbers: bf16 as the upper halves of float32 (uint16), everything else as float32."""
    if table.dtype is torch.bfloat16:
        return table.detach().cpu().contiguous().view(torch.uint16).numpy()
    return table.detach().float().cpu().contiguous().numpy()


def widened(stored: np.ndarray) -> np.ndarray:
    """What `as_stored` gave, as float32."""
    if stored.dtype == np.uint16:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored


def as_tensor(stored: np.ndarray) -> Tensor:
    """What `as_stored` made an array of, in memory of its own."""
    tensor = torch.from_numpy(np.array(stored))
    return tensor.view(torch.bfloat16) if tensor.dtype is torch.uint16 else tensor


def _widening(typing, number):
    """A stored number as float32: uint16 is the upper half of its bits."""
    if number == types.float32:
        return types.float32(types.float32), lambda context, builder, signature, arguments: arguments[0]

    def upper_half(context, builder, signature, arguments):
        word = builder.zext(arguments[0], context.get_value_type(types.uint32))
        shifted = builder.shl(word, context.get_constant(types.uint32, 16))
        return builder.bitcast(shifted, context.get_value_type(types.float32))

    return types.float32(types.uint16), upper_half


wide: Any = intrinsic(_widening)
