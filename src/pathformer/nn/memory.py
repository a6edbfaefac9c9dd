"""Memory that a loop frees and asks for again stays with the process, where glibc is the C library.

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
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

__all__ = ["keep_freed_memory"]

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
