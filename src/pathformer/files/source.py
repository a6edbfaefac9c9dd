"""The bytes of a file, unpacked: gzip, xz, zstd and bzip2 are told by their first bytes, not by the file's name.

A damaged or truncated archive is reported with the line at which it ends, which the reader counts as it goes.

Triples, or labels, that come out of a pipe: `-`, what a shell's `<(...)` names, a named one.

Readers go over a file more than once (how it is packed, whether it has a header), so what comes out of a pipe is
written to a temporary file first, as packed as it comes.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pathformer.errors import GraphFileError, InputError
from pathformer.files.scratch import scratch_error, scratch_folder
from pathformer.limits import limit, too_much

__all__ = [
    "PACKED_SUFFIXES",
    "Reader",
    "as_file",
    "check_unpacked",
    "is_pipe",
    "open_bytes",
    "open_native",
    "plain_name",
]

PACKED_SUFFIXES = (".gz", ".xz", ".zst", ".zstd", ".bz2")

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bz2"),
)
_MARKS = (  # the longer ones first: that of UTF-16 starts that of UTF-32
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FREE = 64 << 20  # bytes that a packed file may unpack to, whatever its size
_PATIENCE = 2.0  # seconds before a wait is told
_DAMAGE = (EOFError, lzma.LZMAError, zlib.error, OSError)


def plain_name(path: Path) -> str:
    """A file's name without the suffix of its compression."""
    return path.stem if path.suffix.lower() in PACKED_SUFFIXES else path.name


class Reader(io.RawIOBase):
    """Unpacked bytes in UTF-8, no mark before them; counts lines, tells progress, turns damage into one sentence."""

    def __init__(self, path: Path, raw: BinaryIO, encoding: str, advance: Callable[[int], None] | None) -> None:
        self._path, self._raw, self._advance = path, raw, advance
        self._stream, self.packing = _unpacked(raw)
        self._lines = self._taken = self._told = 0
        self._encoding = _marked(path, encoding)
        self._transcode = None if _is_utf8(self._encoding) else _transcoder(self._encoding)
        self._left = b""  # in UTF-8, which may be longer than what was asked for
        self._begun = False

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Up to `size` bytes; all that are left when it is negative."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        if not self._begun:
            self._skip_mark(size)
        if not self._left:
            self._left = self._next(size)
        data, self._left = self._left[:size], self._left[size:]
        self._lines += data.count(b"\n")
        if self._advance is not None:
            place = self._raw.tell()
            self._advance(place - self._told)
            self._told = place
        return data

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; for wrappers such as `io.TextIOWrapper`."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _skip_mark(self, size: int) -> None:
        """Drop the sign that some systems write before text to tell how it is encoded."""
        self._begun = True
        while len(self._left) < len(codecs.BOM_UTF8) and (more := self._next(size)):
            self._left += more
        self._left = self._left.removeprefix(codecs.BOM_UTF8)

    def _next(self, size: int) -> bytes:
        """UTF-8 of about so many bytes of the file, one at the least; none at its end."""
        return self._take(max(1, size)) if self._transcode is None else self._transcoded(max(1, size))

    def _take(self, size: int) -> bytes:
        """Bytes as they are packed in the file."""
        try:
            data: bytes = self._stream.read(size)
        except _DAMAGE as error:
            what = f"the {self.packing} archive ends early or is damaged" if self.packing else "cannot be read"
            raise GraphFileError(f"{what} ({error})", self._path, self._line_of_damage()) from error
        self._taken += len(data)
        if self.packing:
            check_unpacked(self._path, self._taken, self._raw.tell())
        return data

    def _transcoded(self, size: int) -> bytes:
        """UTF-8 of the next bytes; a decoder may hold back half a character, so an empty result means the end only."""
        assert self._transcode is not None
        data, text = b"more", b""
        while data and not text:
            data = self._take(size)
            try:
                text = self._transcode(data, not data)
            except UnicodeError as error:
                raise GraphFileError(f"not {self._encoding} text ({error})", self._path, self._lines + 1) from error
        return text

    def _line_of_damage(self) -> int:
        """The line at which the readable part ends: the piece that failed is read again, byte by byte."""
        self._lines += self._left.count(b"\n")
        self._raw.seek(0)
        stream, _ = _unpacked(self._raw)
        left = self._taken
        try:
            while left and (data := stream.read(min(left, 1 << 20))):
                left -= len(data)
            while data := stream.read(1):
                self._lines += data == b"\n"
        except _DAMAGE:
            pass
        return self._lines + 1


def check_unpacked(path: Path, unpacked: int, packed: int) -> None:
    """Refuses a packed file that unpacks to far more than it is: a small one may be made to fill all memory."""
    most = limit("unpacked")
    if unpacked > _FREE and unpacked > most * packed:
        raise GraphFileError(too_much("unpacked", f"the file unpacks to more than {most:,} times its size"), path)


@contextmanager
def open_bytes(path: Path, encoding: str = "utf-8", advance: Callable[[int], None] | None = None) -> Iterator[Reader]:
    """Open a file, packed or not; `advance` is told how many bytes of the file were taken since it was last told."""
    try:
        raw = path.open("rb")
    except OSError as error:
        raise GraphFileError(f"cannot be opened ({error.strerror})", path) from error
    with raw:
        yield Reader(path, raw, encoding, advance)


@contextmanager
def open_native(path: Path, encoding: str = "utf-8") -> Iterator[tuple[Any, Callable[[], int], bool]]:
    """Opens a file for Arrow's threads, which read it without Python.

    Also returns a function that gives the position in the file, and whether the stream is unpacked as it is read.

    A thread of Arrow's that waits for Python when the program ends would end it by a signal. What Arrow cannot unpack
    or decode by itself is written to a temporary file first.
    """
    import pyarrow as pa

    packing, encoding = _packing(path), _marked(path, encoding)
    if packing == "xz" or not _is_utf8(encoding):
        with scratch_folder() as folder, open_bytes(path, encoding) as stream:
            _copy(stream, folder / "unpacked")
            with pa.OSFile(os.fsencode(folder / "unpacked")) as file:
                yield file, lambda: path.stat().st_size * file.tell() // max(file.size(), 1), False
        return
    with pa.OSFile(os.fsencode(path)) as file:
        yield (pa.CompressedInputStream(file, packing) if packing else file), file.tell, bool(packing)


def _packing(path: Path) -> str:
    with path.open("rb") as raw:
        return _packing_of(raw.read(6))


def _packing_of(start: bytes) -> str:
    return next((name for magic, name in _MAGIC if start.startswith(magic)), "")


def _unpacked(raw: BinaryIO) -> tuple[Any, str]:
    packing = _packing_of(raw.read(6))
    raw.seek(0)
    if packing == "gzip":
        return gzip.GzipFile(fileobj=raw), packing
    if packing == "xz":
        return lzma.LZMAFile(raw), packing
    if packing:
        import pyarrow as pa

        return pa.CompressedInputStream(raw, packing), packing
    return raw, packing


def _marked(path: Path, encoding: str) -> str:
    """The encoding that a mark before the text tells, where UTF-8 is asked for: no UTF-8 starts with such bytes."""
    if not _is_utf8(encoding):
        return encoding
    try:
        with path.open("rb") as raw:
            start = _unpacked(raw)[0].read(4)
    except _DAMAGE:  # told when it is read
        start = b""
    return next((marked for mark, marked in _MARKS if start.startswith(mark)), encoding)


def _is_utf8(encoding: str) -> bool:
    try:
        "".encode(encoding)  # codecs that are none of text are told by it, too
        return codecs.lookup(encoding).name in {"utf-8", "utf-8-sig"}
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"no encoding {encoding!r}: expected a name such as utf-8, latin-1, utf-16") from error


def _transcoder(encoding: str) -> Callable[[bytes, bool], bytes]:
    """Bytes of any encoding to UTF-8; what does not decode stays as it is, so that the line it stands in is found."""
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
    return lambda data, final: decoder.decode(data, final).encode("utf-8", "surrogateescape")


_STDIN = Path("-")


def is_pipe(path: Path) -> bool:
    """Whether it can be read only once."""
    return path == _STDIN or path.is_fifo()


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """The path itself, or in place of a pipe a file of what came out of it; an error within names the pipe."""
    if not is_pipe(path):
        yield path
        return
    with scratch_folder() as folder:
        plain = folder / path.name
        try:
            with _saying_that_it_waits(path):
                pipe = open(0 if path == _STDIN else path, "rb", closefd=path != _STDIN)  # noqa: SIM115
            with pipe:
                _copy(pipe, plain)
        except OSError as error:
            raise GraphFileError(f"cannot be read ({error.strerror})", path) from error
        if not plain.stat().st_size:
            raise GraphFileError("nothing came out of the pipe", path)
        try:
            yield plain
        except GraphFileError as error:
            if error.path != plain:
                raise
            raise GraphFileError(error.problem, path, error.line) from error


def _copy(stream: Any, file: Path) -> None:
    """Copies what is read into a temporary file; an error of that file names its folder."""
    try:
        target = file.open("wb")
    except OSError as error:
        raise scratch_error(error) from error
    with target:
        while data := stream.read(1 << 20):
            try:
                target.write(data)
                target.flush()
            except OSError as error:
                raise scratch_error(error) from error


@contextmanager
def _saying_that_it_waits(path: Path) -> Iterator[None]:
    """Says on standard error that a pipe has no writer yet, if that lasts."""

    def tell() -> None:
        if sys.stderr is not None:
            print(f"{path}: waiting for another program to write to this pipe", file=sys.stderr, flush=True)

    timer = threading.Timer(_PATIENCE, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
