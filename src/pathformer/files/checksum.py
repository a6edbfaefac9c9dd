"""Checksums of files: xxh3 where `xxhash` is installed, else the crc32 of zlib; each names its algorithm.

A bare machine that trains may lack `xxhash`. It can save, and everybody can check that; what was saved with xxh3 it can
open, but of such files it checks the size alone.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["ENDS", "algorithm_of", "checksum_of", "checksums_of", "has_algorithm"]

ENDS = 1 << 16  # bytes at the start and at the end of a large file that have a checksum of their own
_BLOCK = 1 << 18  # bytes read at once: they stay in the processor's cache while they are summed up


class _Sum(Protocol):
    """A checksum in the making."""

    def update(self, data: Any) -> None: ...

    def hexdigest(self) -> str: ...


class _Crc32:
    """The crc32 of zlib in the manner of hashlib."""

    def __init__(self) -> None:
        self._value = 0

    def update(self, data: Any) -> None:
        self._value = zlib.crc32(data, self._value)

    def hexdigest(self) -> str:
        return f"{self._value:08x}"


def checksum_of(data: bytes, algorithm: str | None = None) -> str:
    """Returns the checksum of bytes, `xxh3:...` or `crc32:...`; algorithm: by default the best one that is here."""
    total = _begin(name := algorithm or _best())
    total.update(data)
    return f"{name}:{total.hexdigest()}"


def checksums_of(file: int, size: int, algorithm: str | None = None, *, whole: bool = True) -> tuple[str, str]:
    """Returns the checksums of an open file's content, and of its first and last `ENDS` bytes.

    whole: if it is false, only the ends are read, and the first of the two checksums is empty.
    """
    name = algorithm or _best()
    total, ends = _begin(name), _begin(name)
    if whole:
        _feed(total.update, file, 0, size)
    _feed(ends.update, file, 0, min(ENDS, size))
    _feed(ends.update, file, max(ENDS, size - ENDS), size)
    return f"{name}:{total.hexdigest()}" if whole else "", f"{name}:{ends.hexdigest()}"


def algorithm_of(checksum: str) -> str:
    """Returns the name before the colon."""
    return checksum.partition(":")[0]


def has_algorithm(name: str) -> bool:
    """Whether checksums of an algorithm can be computed here."""
    try:
        _begin(name)
    except (ImportError, KeyError):
        return False
    return True


def _feed(take: Callable[[memoryview], None], file: int, first: int, last: int) -> None:
    opened = io.FileIO(file, closefd=False)
    opened.seek(first)
    buffer = memoryview(bytearray(min(_BLOCK, max(1, last - first))))
    while first < last and (count := opened.readinto(buffer[: last - first])):
        take(buffer[:count])
        first += count


def _best() -> str:
    return "xxh3" if has_algorithm("xxh3") else "crc32"


def _begin(name: str) -> _Sum:
    if name == "crc32":
        return _Crc32()
    if name != "xxh3":
        raise KeyError(name)
    from xxhash import xxh3_64

    return xxh3_64()
