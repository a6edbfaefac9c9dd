"""Where to compute.

Memory that a loop frees and asks for again stays with the process, where glibc is the C library.

By itself glibc gives large blocks back to the system as soon as they are freed, and every update and every block of
distances begins with pages that the system has to map and fill with zeros: almost half of the processor time of a fit
of a million triples. Inside `keep_freed_memory` blocks of up to 128 MiB come from the heap, and the heap does not
shrink; at the end what is free is given back. No number that is computed depends on it.

Larger blocks are mapped one by one as ever, since a heap with holes of that size takes more memory than it saves. Left
as it is: another C library, or settings of one's own (the variables MALLOC_..._ and GLIBC_TUNABLES). Before glibc 2.35
no bound above 32 MiB is taken, and blocks up to that are kept.
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


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt's names for them
_KEPT = 129 << 20  # bytes: evaluation.ranks.MEMORY and engine.scale's logits, and some for their alignment
# glibc moves its own bounds with the blocks that are freed, up to these; once a bound was set it moves none any more.
_MAPPED, _TRIMMED = 32 << 20, 64 << 20
_NEVER = -1
_VARIABLES = ("MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_")
_TUNABLES = tuple(f"glibc.malloc.{name}=" for name in ("mmap_max", "mmap_threshold", "trim_threshold", "top_pad"))

_lock = Lock()
_inside = 0  # how many are inside, of all threads: the settings are the process's


@contextmanager
def keep_freed_memory() -> Iterator[None]:
    """Inside, freed memory is used again and not given back; inside another one, nothing changes."""
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
    """The C library of this process, if it is glibc: others have no `mallopt`, or one that means other things."""
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version, library.mallopt  # noqa: B018  (an AttributeError where there is none)
        library.malloc_trim.argtypes = [ctypes.c_size_t]
    except (AttributeError, OSError, TypeError):  # the last one on Windows, where a library has to be named
        return None
    return library
