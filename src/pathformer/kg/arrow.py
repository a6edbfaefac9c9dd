"""Between Arrow's arrays and ours, without copying where the layouts agree.

Arrays are made from buffers: `pa.array` and `to_numpy` import pandas where it is installed, which takes longer than
reading most graphs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pathformer.kg.names import Buffers, Names
from pathformer.kg.vocabulary import Vocabulary

__all__ = ["NO_STRINGS", "array_of", "buffers_of", "integers", "names_of_array", "numbers_of", "strings", "table_of"]

NO_STRINGS: Any = pa.nulls(0, pa.large_string())


def names_of_array(array: Any) -> Names:
    """Names from an Arrow array of strings; the bytes are shared."""
    buffers = buffers_of(array)
    return Names(len(array), lambda: buffers)


def buffers_of(array: Any) -> Buffers:
    """Offsets (n + 1,) and bytes of an Arrow array of strings."""
    if array.type != pa.large_string():  # a cast of nothing takes as long as importing Arrow
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


def strings(texts: Iterable[str]) -> Any:
    """An Arrow array of Python strings."""
    return array_of(Names.of(texts))


def integers(numbers: npt.NDArray[np.int32]) -> Any:
    """An Arrow array that shares the memory of numbers."""
    return pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def numbers_of(array: Any) -> npt.NDArray[np.int32]:
    """The numbers of an Arrow array of 32-bit integers that misses none, without a copy."""
    return np.frombuffer(array.buffers()[1], np.int32, count=len(array), offset=4 * array.offset)


def table_of(triples: npt.NDArray[np.int32], vocabulary: Vocabulary) -> Any:
    """Triples (n, 3) as an Arrow table of names: head, relation, tail."""
    entities, relations = array_of(vocabulary.entities), array_of(vocabulary.relations)
    columns = [
        entities.take(integers(triples[:, 0])),
        relations.take(integers(triples[:, 1] >> 1)),
        entities.take(integers(triples[:, 2])),
    ]
    return pa.table(columns, names=["head", "relation", "tail"])
