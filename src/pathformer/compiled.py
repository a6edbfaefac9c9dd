"""Loops that numba compiles, the threads of others running meanwhile; compiled code is kept on disk where it can be.

Work on several threads, as many as torch uses, each with a part of its own; or on one alone.

Compiled loops and torch's operations let go of the interpreter while they run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import ParamSpec, TypeVar

import numba
import torch

__all__ = ["compiled", "one_thread", "share"]

P = ParamSpec("P")
R = TypeVar("R")


def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """A loop to compile when it is first called.

    Numba refuses to keep what it compiled where nothing can be written, neither beside the package nor in the user's
    folder: in a container, say, whose user has no home. There every process compiles anew.
    """
    try:
        kept: Callable[P, R] = numba.njit(nogil=True, cache=True)(loop)
    except RuntimeError:
        kept = numba.njit(nogil=True)(loop)
    return kept


_entering = Lock()


def share(work: Callable[[int, int, int], None], count: int, threads: int) -> None:
    """Call work(part, first, last) for contiguous parts of range(count), one a thread, the first on this thread."""
    bounds = [count * part // threads for part in range(threads + 1)]
    others = [_pool(threads).submit(work, part, *bounds[part : part + 2]) for part in range(1, threads)]
    try:
        work(0, *bounds[:2])
    finally:
        for other in others:
            other.result()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, what torch or `share` does on this thread is not shared with others.

    Threads that share an operation wait for each other in every one of them, for long beside other work: many small
    operations are done sooner by one. Other threads keep their number, and those that start meanwhile get
    the usual one.
    """
    with _entering:  # who enters meanwhile must not take the 1 for its own number
        before = torch.get_num_threads()  # asked first: torch gives a thread its number when it is first asked
        if before > 1:
            torch.set_num_threads(1)  # of this thread, and what new threads start with
            _elsewhere().submit(torch.set_num_threads, before).result()  # the latter as it was; takes about 20 us
    try:
        yield
    finally:
        if before > 1:
            torch.set_num_threads(before)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: starting one costs as much as a small search."""
    return ThreadPoolExecutor(threads - 1, thread_name_prefix="pathformer")


@cache
def _elsewhere() -> ThreadPoolExecutor:
    """A thread whose own number does not matter."""
    return ThreadPoolExecutor(1, thread_name_prefix="pathformer-default")


def _begin_anew() -> None:
    """A forked process has none of the threads, and whoever held the lock is not there to let go of it."""
    global _entering
    _entering = Lock()
    _pool.cache_clear()
    _elsewhere.cache_clear()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_begin_anew)
