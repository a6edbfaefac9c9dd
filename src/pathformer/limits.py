"""Limits of what is read from outside: a size is checked before memory is taken for it.

Each has a name, and `PATHFORMER_LIMITS` sets it: `PATHFORMER_LIMITS=line=4000000,columns=20000`. The message about a
limit says so.
"""

from __future__ import annotations

import os

from pathformer.errors import ConfigError
from pathformer.text import closest

__all__ = ["LIMITS", "limit", "too_much"]

_VARIABLE = "PATHFORMER_LIMITS"

LIMITS = {
    "line": (16 << 20, "signs of a line of a table"),
    "columns": (10_000, "columns of a line"),
    "json": (256 << 20, "bytes of a file of JSON, unpacked"),
    "unpacked": (200, "times its size that a packed file may unpack to, once that is 64 MB"),
    "question": (1_000_000, "signs of a question"),
}


def limit(name: str) -> int:
    """Returns a limit: the one that was set, or the usual one."""
    usual = LIMITS[name][0]
    given = os.environ.get(_VARIABLE)
    return _given(given).get(name, usual) if given else usual


def too_much(name: str, seen: str) -> str:
    """Returns the sentence for something beyond a limit.

    >>> too_much("columns", "the line has 20,001 columns")
    'the line has 20,001 columns, and the limit is 10,000: raise it with PATHFORMER_LIMITS=columns=... if that is meant'
    """
    return f"{seen}, and the limit is {limit(name):,}: raise it with {_VARIABLE}={name}=... if that is meant"


def _given(text: str) -> dict[str, int]:
    found = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.partition("=")
        if name not in LIMITS:
            near = closest(name, LIMITS, count=1)
            raise ConfigError(f"{_VARIABLE}: no limit {name[:80]!r}; {_near(near)}")
        if not number.isascii() or not number.isdigit() or not 0 < len(number) < 19 or not int(number):
            raise ConfigError(f"{_VARIABLE}: {name} takes a whole number above 0, found {number[:80]!r}")
        found[name] = int(number)
    return found


def _near(near: tuple[str, ...]) -> str:
    return f"closest: {near[0]!r}" if near else f"there are: {', '.join(LIMITS)}"
