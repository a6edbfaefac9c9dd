"""Freed memory stays with a process as long as it was asked to, and no longer."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pathformer.nn import device as memory
from pathformer.nn.device import keep_freed_memory

VARIABLES = ("MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_")
TIMES = 2
PROGRAM = """
import ctypes, json, resource
from pathformer.nn.device import keep_freed_memory

library = ctypes.CDLL(None)
library.malloc.restype = library.memset.restype = ctypes.c_void_p
library.malloc.argtypes = [ctypes.c_size_t]
library.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]

def block(size):
    made = library.malloc(size << 20)
    library.memset(made, 1, size << 20)
    return made

def faults(size):  # of a loop that makes and frees blocks of so many MiB, the first one apart
    library.free(block(size))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(TIMES):
        library.free(block(size))
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def resident():  # MiB
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() >> 20

told = {}
"""
BEFORE_INSIDE_AFTER = """
told["before"] = faults(160)
with keep_freed_memory():
    told["inside"] = faults(128)
    told["inside, larger"] = faults(160)
    with keep_freed_memory():
        told["further inside"] = faults(128)
    told["inside again"] = faults(128)
told["after"] = faults(160)  # too large for a hole that those blocks may have left
"""
GIVEN_BACK = """
with keep_freed_memory():
    blocks = [block(64) for _ in range(4)]
    told["full"] = resident()
    for made in blocks:
        library.free(made)
    told["freed"] = resident()
told["left"] = resident()
"""


@pytest.fixture(autouse=True)
def no_settings_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "GLIBC_TUNABLES", "LD_PRELOAD"):
        monkeypatch.delenv(name, raising=False)


def told(program: str) -> dict[str, int]:
    """What a program finds out about its own memory, in a process that has no holes in it yet."""
    whole = PROGRAM.replace("TIMES", str(TIMES)) + program + "print(json.dumps(told))"
    found: dict[str, int] = json.loads(
        subprocess.run([sys.executable, "-c", whole], capture_output=True, check=True).stdout
    )
    return found


real = pytest.mark.skipif(
    memory._glibc() is None or not Path("/proc/self/statm").is_file(), reason="there is no glibc on Linux here"
)


@real
def test_a_loop_of_large_blocks_faults_no_more_inside_and_as_before_after_it() -> None:
    found = told(BEFORE_INSIDE_AFTER)
    assert found["before"] >= TIMES * 80  # a block has 80 pages where the system gives out those of 2 MiB, else 40,960
    assert found["inside"] < found["before"] / 8
    assert found["further inside"] < found["before"] / 8
    assert found["inside again"] < found["before"] / 8
    for name in ("inside, larger", "after"):
        assert found["before"] / 2 < found[name] < 2 * found["before"]


@real
def test_what_is_free_is_given_back_at_the_end() -> None:
    found = told(GIVEN_BACK)
    assert found["full"] - found["freed"] < 16
    assert found["freed"] - found["left"] > 240


class Library:
    """A glibc that writes down what it was told, and takes no bound above `most`."""

    def __init__(self, most: int = 1 << 40) -> None:
        self.most = most
        self.told: list[tuple[str, int, int]] = []

    def mallopt(self, name: int, value: int) -> int:
        self.told.append(("mallopt", name, value))
        return int(name != MMAP_THRESHOLD or value <= self.most)

    def malloc_trim(self, pad: int) -> int:
        self.told.append(("malloc_trim", 0, pad))
        return 1


TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # in malloc.h
ENTERED = [("mallopt", MMAP_THRESHOLD, 129 << 20), ("mallopt", TRIM_THRESHOLD, -1)]
LEFT = [("mallopt", MMAP_THRESHOLD, 32 << 20), ("mallopt", TRIM_THRESHOLD, 64 << 20), ("malloc_trim", 0, 0)]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library()
    monkeypatch.setattr(memory, "_glibc", lambda: made)
    return made


def test_it_is_told_once_and_told_back_once(library: Library) -> None:
    with keep_freed_memory():
        assert library.told == ENTERED
        with keep_freed_memory():
            pass
        assert library.told == ENTERED
    assert library.told == ENTERED + LEFT
    with keep_freed_memory():
        pass
    assert library.told == 2 * (ENTERED + LEFT)


def test_an_old_one_keeps_blocks_of_32_mib(library: Library) -> None:
    library.most = 32 << 20
    with keep_freed_memory():
        assert library.told == [ENTERED[0], ("mallopt", MMAP_THRESHOLD, 32 << 20), ENTERED[1]]
    assert library.told[3:] == LEFT


def test_the_last_of_several_threads_tells_it_back(library: Library) -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with keep_freed_memory():
            inside.set()
            leave.wait(10.0)

    thread = threading.Thread(target=other)
    with keep_freed_memory():
        thread.start()
        assert inside.wait(10.0)
    assert library.told == ENTERED
    leave.set()
    thread.join()
    assert library.told == ENTERED + LEFT


@pytest.mark.parametrize(
    ("name", "value", "left_alone"),
    [
        *((name, "1000000", True) for name in VARIABLES),
        ("MALLOC_ARENA_MAX", "2", False),  # concerns other threads' heaps
        ("GLIBC_TUNABLES", "glibc.malloc.arena_max=2:glibc.malloc.top_pad=65536", True),
        ("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=1000000", True),
        ("GLIBC_TUNABLES", "glibc.malloc.arena_max=2", False),
    ],
)
def test_settings_of_ones_own_stay(
    name: str, value: str, left_alone: bool, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with keep_freed_memory():
        assert library.told == ([] if left_alone else ENTERED)
    assert library.told == ([] if left_alone else ENTERED + LEFT)


class Without:
    """A C library without some of glibc's functions: macOS has none of these, Android's mallopt means other things."""

    def __init__(self, *names: str) -> None:
        for name in names:
            setattr(self, name, lambda *_: pytest.fail("it is not glibc's"))


def refuse(error: Exception) -> Callable[[Any], Any]:
    def load(_: Any) -> Any:
        raise error

    return load


@pytest.mark.parametrize(
    "load",
    [
        lambda _: Without(),
        lambda _: Without("mallopt", "malloc_trim"),
        lambda _: Without("gnu_get_libc_version", "mallopt"),
        refuse(TypeError("a library has to be named")),
        refuse(OSError("no library")),
    ],
)
def test_another_c_library_is_left_alone(load: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", load)
    memory._glibc.cache_clear()
    try:
        assert memory._glibc() is None
        with keep_freed_memory():
            done = True
    finally:
        memory._glibc.cache_clear()
    assert done
