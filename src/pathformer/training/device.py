"""Where to compute."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["choose_device", "free_threads"]


def choose_device(name: str = "auto") -> torch.device:
    """The device by name; "auto" is a CUDA device where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


@contextmanager
def free_threads() -> Iterator[int]:
    """Compute on as many threads as there are idle cores, one at the least.

    Threads of one operation wait for each other: two of them beside a busy neighbour are many times slower than one.
    """
    before = torch.get_num_threads()
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    torch.set_num_threads(max(1, min(before, round(before - busy))))
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)
