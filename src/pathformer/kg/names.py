"""Many names in two arrays, and the look-up from a name to its position.

n names, B bytes of UTF-8 in all: name i is `data[offsets[i] : offsets[i + 1]]`. That is Arrow's own layout, so a saved
column is mapped, not read. The look-up is a sorted array of 64-bit hashes with the ids beside it (12 bytes a name, also
mapped): a dictionary of 10^7 Python strings would take seconds and a gigabyte before the first question.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pathformer.errors import InputError

__all__ = ["Index", "Labelled", "Names", "fold", "labels_of"]

Buffers = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]  # offsets (n + 1,), data (B,)
Index = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]  # hashes ascending (n,), ids (n,)

_FACTOR = 0x9E3779B97F4A7C15  # odd, so every position of a name weighs in
_CHUNK = 1 << 16  # names hashed at once: bounds the memory


class Names:
    """A list of names; both its bytes and its index may come from files that are opened when first needed."""

    def __init__(self, count: int, buffers: Callable[[], Buffers], index: Callable[[], Index] | None = None) -> None:
        self._count, self._load, self._load_index = count, buffers, index

    @classmethod
    def of(cls, texts: Iterable[str]) -> Names:
        """Names from Python strings."""
        encoded = [_encode(text) for text in texts]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(name) for name in encoded], out=offsets[1:])
        data = np.frombuffer(b"".join(encoded), np.uint8)
        return cls(len(encoded), lambda: (offsets, data))

    @cached_property
    def buffers(self) -> Buffers:
        """Offsets (n + 1,) and bytes (B,)."""
        return self._load()

    @cached_property
    def index(self) -> Index:
        """Hashes in ascending order and the id of each."""
        if self._load_index is not None:
            return self._load_index()
        hashes = _hashes(*self.buffers)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order.astype(np.int32)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, position: int) -> str:
        if not 0 <= position < self._count:
            raise IndexError(f"no name {position}: there are {self._count}")
        offsets, data = self.buffers
        return data[offsets[position] : offsets[position + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        offsets, data = self.buffers
        for first in range(0, self._count, _CHUNK):
            ends = offsets[first : first + _CHUNK + 1]
            text = data[ends[0] : ends[-1]].tobytes()
            for start, end in pairwise((ends - ends[0]).tolist()):
                yield text[start:end].decode()

    def hold(self, *, indexed: bool = False) -> None:
        """Opens the names now; the index, too, if it is in a file of its own."""
        len(self.buffers)
        if indexed and self._load_index is not None:
            len(self.index)

    def fold_all(self) -> Names:
        """Returns the names folded by `fold`."""
        offsets, data = self.buffers
        if data.max(initial=0) < 128:  # plain ASCII, as ids and most IRIs are: 26 letters change, no length does
            lowered = np.where((data >= ord("A")) & (data <= ord("Z")), data + np.uint8(32), data)
            return Names(self._count, lambda: (offsets, lowered))
        return Names.of(map(fold, self))

    def find(self, name: str) -> list[int]:
        """Returns the ids with exactly this name, ascending; names tell colliding hashes apart."""
        try:
            wanted = _hash(name.encode())
        except UnicodeEncodeError:
            return []
        hashes, ids = self.index
        first, last = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
        return sorted(position for position in ids[first:last].tolist() if self[position] == name)


Labelled = Names | Mapping[str, str | None] | Sequence[str | None]  # of some names, by name or in order


def labels_of(given: Labelled | None, names: Names, kind: str) -> Names | None:
    """Returns a label for each name, empty for none; kind: a word for the named things in a message."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        if not any(names.find(name) for name in given):
            raise InputError(f"no {kind} is labelled: the graph has names such as {next(iter(names), '')!r}")
        given = [given.get(name) for name in names]
    if isinstance(given, str) or len(given) != len(names):
        raise InputError(f"a label for each {kind} is expected, {len(names):,} of them, or a mapping of names")
    return given if isinstance(given, Names) else Names.of(label or "" for label in given)


def fold(text: str) -> str:
    """Returns a text in one case, with accents as parts of letters."""
    folded = text.casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the name {text!r} is not valid Unicode text: it holds half of a surrogate pair") from error


def _hash(name: bytes) -> np.uint64:
    """`_hashes` of one name, where numpy's calls would cost more than the sum."""
    total, power = 0, 1
    for byte in name:
        power = power * _FACTOR % 2**64
        total += (byte + 1) * power
    return np.uint64(total % 2**64)


def _hashes(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """A polynomial in the bytes of each name, modulo 2^64: sum over j of (byte_j + 1) * factor^j."""
    found = np.empty(len(offsets) - 1, np.uint64)
    longest = int(np.diff(offsets).max(initial=0))
    powers = np.cumprod(np.full(longest, _FACTOR, np.uint64), dtype=np.uint64)
    for first in range(0, len(found), _CHUNK):
        ends = offsets[first : first + _CHUNK + 1]
        local = ends - ends[0]
        position = np.arange(local[-1]) - np.repeat(local[:-1], np.diff(local))
        sums = np.zeros(len(position) + 1, np.uint64)
        terms = (data[ends[0] : ends[-1]].astype(np.uint64) + np.uint64(1)) * powers[position]
        np.cumsum(terms, out=sums[1:])
        found[first : first + len(local) - 1] = sums[local[1:]] - sums[local[:-1]]
    return found
