"""Where to compute."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from pathformer.errors import InputError

__all__ = ["choose_device", "free_threads"]


def choose_device(name: str = "auto") -> torch.device:
    """The device by name; "auto" is a CUDA device where there is one."""
    cuda = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if cuda else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(
            f"no device is called {name!r}: there are auto, cpu, cuda, and cuda:1 for a second card"
        ) from None
    if device.type == "cuda" and not cuda:
        raise InputError(f"device {name!r} was asked for, and no CUDA device is there: take cpu or auto")
    return device


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
