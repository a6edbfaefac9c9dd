"""Where to compute."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from pathformer.errors import InputError
from pathformer.symbolic.answer import cores

__all__ = ["busy_elsewhere", "choose_device", "free_threads"]

_STAT = Path("/proc/stat")
_WATCHED = 0.15  # seconds, fifteen ticks of the system's clock


def choose_device(name: str = "auto") -> torch.device:
    """The device by name; "auto" is a CUDA device where there is one."""
    cuda = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if cuda else "cpu"
    device = _device(name)
    if device is None or device.type not in ("cpu", "cuda"):  # of others torch knows, none has been tried
        raise InputError(f"no device is called {name!r}: there are auto, cpu, cuda, and cuda:1 for a second card")
    if device.type == "cuda" and not cuda:
        raise InputError(f"device {name!r} was asked for, and no CUDA device is there: take cpu or auto")
    if device.type == "cuda" and device.index is not None and device.index >= (cards := torch.cuda.device_count()):
        raise InputError(f"device {name!r} was asked for, and the last CUDA device is cuda:{cards - 1}")
    return device


def _device(name: str) -> torch.device | None:
    """As torch knows it."""
    try:
        return torch.device(name)
    except RuntimeError:
        return None


@contextmanager
def free_threads() -> Iterator[int]:
    """Compute on as many threads as there are idle cores, one at the least and no more than torch was told to take.

    Threads of one operation wait for each other: two of them beside a busy neighbour are many times slower than one.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, min(before, round(cores() - busy_elsewhere()))))
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


def busy_elsewhere() -> float:
    """Cores that other processes keep busy.

    The system's load is the mean of a minute and counts this process, which may have read a large graph just now; what
    the processors did in a moment can be told from what this process did, but a moment may be anything. Cores are taken
    for busy where both say so.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if round(load) == 0 or (before := _worked()) is None:
        return load
    own, start = time.process_time(), time.monotonic()
    time.sleep(_WATCHED)
    worked = (_worked() or before) - before - (time.process_time() - own)
    return min(load, max(0.0, worked / (time.monotonic() - start)))


def _worked() -> float | None:
    """Seconds that all processors have worked since the system started, where it tells."""
    if not _STAT.is_file():
        return None
    user, nice, system, _, _, interrupts, soft, stolen = map(int, _STAT.read_text().split(maxsplit=9)[1:9])
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")
