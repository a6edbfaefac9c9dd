"""Which of two ways an operation takes: plain torch, or a fused kernel that gives the same numbers.

Every operation of `nn` that has a kernel is one function: it asks `fused(tensor)` and calls the kernel, or runs the
plain lines that stand beside the question. Tensors on a CUDA device take the kernels, everything else the plain
lines, and `with plain():` forces those, so a test can compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

__all__ = ["fused", "plain"]

_PLAIN: ContextVar[bool] = ContextVar("plain", default=False)


def fused(tensor: Tensor) -> bool:
    """Whether operations on this tensor take a fused kernel."""
    return tensor.is_cuda and tensor.dtype is not torch.float64 and not _PLAIN.get() and _compiler()


@contextmanager
def plain() -> Iterator[None]:
    """Inside, every operation takes its plain lines."""
    token = _PLAIN.set(True)
    try:
        yield
    finally:
        _PLAIN.reset(token)


@cache
def _compiler() -> bool:
    return find_spec("triton") is not None
