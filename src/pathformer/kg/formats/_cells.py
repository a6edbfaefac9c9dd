"""Checks that cells are names: valid text, not empty, not missing, without a NUL byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["OUTER", "as_bytes", "holds_line_end", "names_of", "or_leave_out", "problem_of", "trim"]

OUTER = " \t\u00a0"  # no part of a name at its ends: nobody means two entities by "Dora" and "Dora "


def names_of(columns: Sequence[Any]) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """Arrow columns as strings, without the rows in which any of them holds no name; and the places of those rows."""
    columns = [as_bytes(column) for column in columns]
    bad = np.zeros(len(columns[0]), np.bool_)
    for column in columns:
        if not _all_names(column):
            bad |= np.array([problem_of(value) is not None for value in column.to_pylist()])
    if bad.any():
        columns = [column.filter(pa.array(~bad)) for column in columns]
    return [column.cast(pa.string()) for column in columns], np.flatnonzero(bad)


def as_bytes(column: Any) -> Any:
    """An Arrow column of text as bytes, which may be any: text that is none is then found, and does not raise."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string_view(kind):
        return column.cast(pa.binary_view()).cast(pa.binary())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.large_binary() if pa.types.is_large_string(kind) else pa.binary())
    return column


def trim(columns: Sequence[Any]) -> list[Any] | None:
    """Arrow columns of strings without the spaces around names; None when one of them is nothing but spaces."""
    names = [pc.utf8_trim(column, characters=OUTER) for column in columns]
    return None if any(pc.min(pc.binary_length(column)).as_py() == 0 for column in names) else names


def holds_line_end(column: Any) -> bool:
    """Whether any cell of an Arrow array of bytes contains a line end."""
    data = _bytes_of(column)
    return bool((data == ord("\n")).any() or (data == ord("\r")).any())


def problem_of(value: object) -> str | None:
    """Says why a cell is not a name, or returns None; undecoded text comes as bytes or with lone surrogates."""
    if value is None or value in ("", b""):
        return "is empty"
    if isinstance(value, str | bytes):
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            byte = f"byte 0x{raw[error.start]:02x}"
            return f"is not text in this encoding ({byte}): name the right one with --encoding (encoding=...)"
        if b"\0" in raw:
            return "contains a NUL byte: is the file damaged, or in another encoding (--encoding, encoding=...)?"
    return None


def or_leave_out(problem: str, skip_bad: bool) -> str:
    """Adds what to do about a bad line, unless such lines are left out already or another option is named."""
    return (
        problem if skip_bad or "--" in problem else f"{problem}. Leave such lines out with --skip-bad (skip_bad=True)"
    )


def _all_names(column: Any) -> bool:
    try:
        texts = column.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    if texts.null_count or pc.min(pc.binary_length(texts)).as_py() == 0:
        return False
    return bool(_bytes_of(texts).min(initial=1))  # the least byte: 0 is NUL


def _bytes_of(texts: Any) -> npt.NDArray[np.uint8]:
    """All bytes of an Arrow array of strings or bytes, one text after the other, without a copy."""
    _, offsets, data = texts.buffers()
    if data is None:
        return np.empty(0, np.uint8)
    ends = np.frombuffer(offsets, np.int32, count=len(texts) + 1, offset=4 * texts.offset)
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
