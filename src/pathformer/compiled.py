"""Compiled loops, the folder that keeps them, and the threads that share them; nothing here needs torch.

Compiled loops and torch's operations let go of the interpreter while they run.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from inspect import getfile
from pathlib import Path
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from pathformer.errors import InputError

__all__ = ["cache_folder", "compiled", "cores", "one_blas_thread", "one_thread", "share", "thread_count"]

P = ParamSpec("P")
R = TypeVar("R")


def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """Makes numba compile a loop when it is first called, and keep the code on disk.

    Numba asks of kept code only whether the function's own file is as it was, and a caller in one file would go on
    using what a changed file said. So the code lies in a folder named by a digest of all files beside the loop's own.
    Where nothing can be written, in a container without a home, say, every process compiles anew.
    """
    import numba

    config: Any = numba.config  # its settings are made at run time
    with _deciding:
        given = config.CACHE_DIR
        try:
            with suppress(InputError):  # a user without a home has numba's own folder, or none
                config.CACHE_DIR = str(
                    (Path(given) if given else cache_folder() / "numba") / _digest(Path(getfile(loop)).parent)
                )
            code: Callable[P, R] = numba.njit(nogil=True, cache=True)(loop)  # takes its folder now
        except RuntimeError:
            code = numba.njit(nogil=True)(loop)
        finally:
            config.CACHE_DIR = given
    return code


def cache_folder() -> Path:
    """The user's folder for what can be made again: $XDG_CACHE_HOME/pathformer, else ~/.cache/pathformer."""
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(given) if given else Path.home() / ".cache") / "pathformer"
    except RuntimeError as error:
        raise InputError("the user has no home folder to keep files in: name another in XDG_CACHE_HOME") from error


@cache
def _digest(folder: Path) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(folder.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def cores() -> int:
    """The number of cores this process may use, or the machine has where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count() -> int:
    """The number of threads this one may share work with: torch's, else OMP_NUM_THREADS or one a core."""
    torch = sys.modules.get("torch")
    if torch is not None:
        return int(torch.get_num_threads())
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdigit() and int(given) else cores()


def share(work: Callable[[int, int, int], None], count: int, threads: int) -> None:
    """Calls work(part, first, last) for contiguous parts of range(count), one a thread, the first on this thread."""
    bounds = [count * part // threads for part in range(threads + 1)]
    others = [_pool(threads).submit(work, part, *bounds[part : part + 2]) for part in range(1, threads)]
    try:
        work(0, *bounds[:2])
    finally:
        for other in others:
            other.result()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, torch's operations on this thread are not shared with other threads; without torch nothing changes.

    Threads that share an operation wait for each other in every one of them: many small operations are done sooner by
    one. Other threads keep their number, and those that start meanwhile get the usual one.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, numpy's products are not shared among threads, in all of the process; may be nested.

    OpenBLAS lets its threads wait for each other in a loop: two of them beside a busy neighbour took a hundred times as
    long as one.
    """
    _limit(1)
    try:
        yield
    finally:
        _limit(-1)


def _limit(step: int) -> None:
    """Counts who is inside `one_blas_thread`; the first one in and the last one out set the number of threads."""
    global _inside
    with _entering:
        libraries = _blas()
        if step > 0 and not _inside:
            for library in libraries:
                libraries[library] = library.get_num_threads()
                _set_threads(library, 1)
        _inside += step
        if not _inside:
            for library, threads in libraries.items():
                _set_threads(library, threads)


def _set_threads(library: Any, threads: int) -> None:
    """Sets the number from any thread; threadpoolctl 3.8 lets only the one do so that did it first."""
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread(force=True)
    library.set_num_threads(threads)


@cache
def _blas() -> dict[Any, int]:
    """Returns the libraries that multiply matrices, with the number of threads they had."""
    from threadpoolctl import ThreadpoolController

    return dict.fromkeys(ThreadpoolController().select(user_api="blas").lib_controllers, 1)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: starting one costs as much as a small search."""
    return ThreadPoolExecutor(threads - 1, thread_name_prefix="pathformer")


@cache
def _elsewhere() -> ThreadPoolExecutor:
    """A thread whose own number does not matter."""
    return ThreadPoolExecutor(1, thread_name_prefix="pathformer-default")


_deciding = Lock()  # numba's cache folder is one setting of the process
_entering = Lock()
_inside = 0  # threads that are inside `one_blas_thread`


def _begin_anew() -> None:
    """A forked process has none of the threads, and whoever held a lock is not there to let go of it."""
    global _deciding, _entering, _inside
    _deciding, _entering, _inside = Lock(), Lock(), 0
    _pool.cache_clear()
    _elsewhere.cache_clear()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_begin_anew)
