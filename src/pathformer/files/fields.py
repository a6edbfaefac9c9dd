"""Checks a header of JSON: every field that is read from it must be there and of its kind.

Headers are written by us and may have been edited, merged or cut by others since.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["wrong_field"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "a count": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "a number": _is_number,  # as a float can hold it
    "text": lambda value: isinstance(value, str),
    "text or null": lambda value: value is None or isinstance(value, str),
    "true or false": lambda value: isinstance(value, bool),
    "a list": lambda value: isinstance(value, list),
    "a list of objects": lambda value: isinstance(value, list) and all(isinstance(entry, dict) for entry in value),
    "a list of numbers": lambda value: isinstance(value, list) and all(map(_is_number, value)),
    "an object": lambda value: isinstance(value, dict),
    "an object of numbers": lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    "an object of lists of numbers": lambda value: (
        isinstance(value, dict) and all(map(_KINDS["a list of numbers"], value.values()))
    ),
    "an object of counts": lambda value: isinstance(value, dict) and all(map(_KINDS["a count"], value.values())),
}


def wrong_field(header: Any, kinds: Mapping[str, str]) -> str | None:
    """Says which field is missing or of another kind than it must be; None if all are right.

    >>> wrong_field({"rows": "many"}, {"rows": "a count"})
    "'rows' is not a count"
    """
    if not isinstance(header, Mapping):
        return "it is not an object"
    for name, kind in kinds.items():
        if name not in header:
            return f"{name!r} is missing"
        if not _KINDS[kind](header[name]):
            return f"{name!r} is not {kind}"
    return None
