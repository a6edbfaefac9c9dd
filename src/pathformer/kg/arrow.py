"""Between Arrow's arrays and ours, without copying where the layouts agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from pathformer.kg.names import Buffers, Names

__all__ = ["array_of", "buffers_of", "names_of_array"]


def names_of_array(array: Any) -> Names:
    """Names from an Arrow array of strings; the bytes are shared."""
    buffers = buffers_of(array)
    return Names(len(array), lambda: buffers)


def buffers_of(array: Any) -> Buffers:
    """Offsets (n + 1,) and bytes of an Arrow array of strings."""
    array = array.cast(pa.large_string())
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, np.int64, count=len(array) + 1, offset=8 * array.offset) if len(array) else None
    return (
        np.zeros(1, np.int64) if ends is None else ends,
        np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8),
    )


def array_of(names: Names) -> Any:
    """An Arrow array of strings that shares the bytes of names."""
    offsets, data = names.buffers
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.large_string(), len(names), buffers)
