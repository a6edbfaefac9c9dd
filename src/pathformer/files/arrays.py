"""Arrays in files of NumPy, `.npy` and `.npz`, read by one strict reader.

NumPy reads the header of a file as a Python expression. A damaged one can be any expression, or a size that fills all
memory. Here a header is what NumPy writes for plain numbers, letter by letter, and fits the size of its file.
"""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

__all__ = ["map_array", "read_npz"]

_START = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '[<|]([biuf][1248])', 'fortran_order': (False|True), "
    rb"'shape': \((\d{1,18}(?:, \d{1,18})+|\d{1,18},|)\), \} *\n"
)


def map_array(file: Path, shape: tuple[int, ...] | None = None, kind: str | None = None) -> npt.NDArray[Any]:
    """Maps an array, read-only; raises ValueError for a file that does not hold one of this shape and kind (`i4`)."""
    with file.open("rb") as opened:
        dtype, found, order, start = _read_header(opened, file.stat().st_size)
        if shape is not None and found != shape:
            raise ValueError(f"has the shape {found}, expected {shape}")
        if kind is not None and dtype.str[1:] != kind:
            raise ValueError(f"holds numbers of the kind {dtype.str[1:]}, expected {kind}")
        return np.memmap(opened, dtype, "r", start, found, order)


def read_npz(file: BinaryIO) -> Mapping[str, npt.NDArray[Any]]:
    """Reads all arrays of an archive as `numpy.savez` writes it, unpacked; raises ValueError for any other."""
    arrays = {}
    try:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
                    raise ValueError(f"{member.filename[:80]!r} is packed, and this program packs nothing")
                with archive.open(member) as opened:
                    dtype, shape, order, _ = _read_header(opened, member.file_size)
                    numbers = np.frombuffer(bytearray(opened.read()), dtype)
                arrays[member.filename.removesuffix(".npy")] = numbers.reshape(shape, order=order)
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, LookupError) as error:
        raise ValueError(str(error) or type(error).__name__) from error
    return arrays


def _read_header(opened: Any, size: int) -> tuple[np.dtype[Any], tuple[int, ...], Any, int]:
    """Reads the header of an array: its type, shape, order, and where its numbers begin."""
    start = opened.read(len(_START) + 2)
    length = int.from_bytes(start[len(_START) :], "little")
    header = _HEADER.fullmatch(opened.read(length))
    if not start.startswith(_START) or header is None:
        raise ValueError("is not an array of plain numbers as this program writes them")
    kind, fortran, told = (part.decode() for part in header.groups())
    shape = tuple(int(part) for part in told.split(",") if part)
    dtype = np.dtype(f"<{kind}" if kind != "b1" else "?")
    begin = len(start) + length
    if begin + math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"has {size:,} bytes, which do not fit an array of the shape {shape}")
    return dtype, shape, "F" if fortran == "True" else "C", begin
