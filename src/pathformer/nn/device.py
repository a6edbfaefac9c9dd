"""The device to compute on, the processor's threads, and the memory that a loop frees and asks for again.

glibc gives large blocks back to the system as soon as they are freed, and the next update begins with pages that the
system has to map and fill with zeros. Inside `keep_freed_memory` blocks of up to 128 MiB (32 MiB before glibc 2.35)
stay with the process; at the end they are given back. No number that is computed depends on it. Another C library, or
the user's own settings (the variables MALLOC_..._ and GLIBC_TUNABLES), are left as they are.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

import torch

from pathformer.compiled import cores
from pathformer.errors import InputError

__all__ = ["busy_elsewhere", "choose_device", "free_threads", "keep_freed_memory"]

_STAT = Path("/proc/stat")
_WATCHED = 0.15  # seconds, fifteen ticks of the system's clock


def choose_device(name: str = "auto") -> torch.device:
    """Returns the device of this name; "auto" is a CUDA device where there is one."""
    cuda = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if cuda else "cpu"
    device = _parse(name)
    if device is None or device.type not in ("cpu", "cuda"):  # torch knows others, which nobody has tried
        raise InputError(f"no device is called {name!r}; use auto, cpu, cuda, or cuda:1 for a second card")
    if device.type == "cuda" and not cuda:
        raise InputError(f"device {name!r}: this machine has no CUDA device; use cpu or auto")
    if device.type == "cuda" and device.index is not None and device.index >= (cards := torch.cuda.device_count()):
        raise InputError(f"device {name!r}: the last CUDA device of this machine is cuda:{cards - 1}")
    return device


def _parse(name: str) -> torch.device | None:
    """Returns the device that torch knows by this name, or None."""
    try:
        return torch.device(name)
    except RuntimeError:
        return None


@contextmanager
def free_threads() -> Iterator[int]:
    """Inside, torch computes on as many threads as there are idle cores: at least one, at most what it was set to.

    Threads of one operation wait for each other: two of them beside a busy neighbour are many times slower than one.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, min(before, round(cores() - busy_elsewhere()))))
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


def busy_elsewhere() -> float:
    """Estimates how many cores other processes keep busy.

    The system's load is the mean of a minute and counts this process; a short look at the processors leaves this
    process out, but a moment may be untypical. The smaller of the two counts.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if round(load) == 0 or (before := _seconds_worked()) is None:
        return load
    own, start = time.process_time(), time.monotonic()
    time.sleep(_WATCHED)
    worked = (_seconds_worked() or before) - before - (time.process_time() - own)
    return min(load, max(0.0, worked / (time.monotonic() - start)))


def _seconds_worked() -> float | None:
    """Returns the seconds that all processors have worked since the system started; None if it does not tell."""
    if not _STAT.is_file():
        return None
    user, nice, system, _, _, interrupts, soft, stolen = map(int, _STAT.read_text().split(maxsplit=9)[1:9])
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt's names for them
_KEPT = 129 << 20  # bytes: blocks of distances and of logits are up to 128 MiB, and some for their alignment
# glibc moves its own bounds with the blocks that are freed, up to these; once a bound is set, it moves none.
_MAPPED, _TRIMMED = 32 << 20, 64 << 20
_NEVER = -1
_VARIABLES = ("MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_")
_TUNABLES = tuple(f"glibc.malloc.{name}=" for name in ("mmap_max", "mmap_threshold", "trim_threshold", "top_pad"))

_lock = Lock()
_inside = 0  # threads that are inside: the settings belong to the process


@contextmanager
def keep_freed_memory() -> Iterator[None]:
    """Inside, freed memory stays with the process and is used again; may be nested."""
    library = None if _set_by_user() else _glibc()
    if library is None:
        yield
        return
    _enter(library)
    try:
        yield
    finally:
        _leave(library)


def _enter(library: ctypes.CDLL) -> None:
    global _inside
    with _lock:
        _inside += 1
        if _inside == 1:
            if not library.mallopt(_MMAP_THRESHOLD, _KEPT):
                library.mallopt(_MMAP_THRESHOLD, _MAPPED)
            library.mallopt(_TRIM_THRESHOLD, _NEVER)


def _leave(library: ctypes.CDLL) -> None:
    global _inside
    with _lock:
        _inside -= 1
        if not _inside:
            library.mallopt(_MMAP_THRESHOLD, _MAPPED)
            library.mallopt(_TRIM_THRESHOLD, _TRIMMED)
            library.malloc_trim(0)


def _set_by_user() -> bool:
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    return any(name in os.environ for name in _VARIABLES) or any(name in tunables for name in _TUNABLES)


@cache
def _glibc() -> ctypes.CDLL | None:
    """Returns the C library of this process if it is glibc: in others `mallopt` is missing or means something else."""
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version, library.mallopt  # noqa: B018  (an AttributeError where there is none)
        library.malloc_trim.argtypes = [ctypes.c_size_t]
    except (AttributeError, OSError, TypeError):  # the last one on Windows, where a library has to be named
        return None
    return library
