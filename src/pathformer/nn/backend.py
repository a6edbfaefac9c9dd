"""Which way an operation takes: plain torch, or a fused kernel that gives the same numbers.

Every operation that has a kernel is one function: it asks `is_fused(tensor)` and calls the kernel, or runs the plain
lines that stand beside the question. Tensors on a CUDA device take the kernels, all others the plain lines. `force`
chooses one way for all of them, so that a test can compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec
from typing import Literal

import torch
from torch import Tensor

__all__ = ["Way", "force", "is_fused"]

Way = Literal["kernels", "plain", "by device"]

_WAY: ContextVar[Way] = ContextVar("way", default="by device")


def is_fused(tensor: Tensor) -> bool:
    """Whether operations on this tensor take a fused kernel."""
    match _WAY.get():
        case "kernels":
            return True
        case "plain":
            return False
    return tensor.is_cuda and tensor.dtype is not torch.float64 and _has_compiler()


@contextmanager
def force(way: Way) -> Iterator[None]:
    """Inside, every operation goes this way; kernels on a processor need triton's interpreter, TRITON_INTERPRET=1."""
    token = _WAY.set(way)
    try:
        yield
    finally:
        _WAY.reset(token)


@cache
def _has_compiler() -> bool:
    return find_spec("triton") is not None
