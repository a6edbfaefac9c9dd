"""Figures and names as messages and reports write them: counted, in percent, in tables, safe for a terminal."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = ["closest", "counted", "duration", "markdown_table", "percent", "visible"]

_STEERING = {"Cc", "Zl", "Zp", "Cs"}
_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def counted(count: int, one: str, several: str | None = None) -> str:
    """A number of things: what one is called, and what several are, where an s at the end does not make it.

    >>> counted(1, "triple"), counted(1200, "triple"), counted(0, "entity", "entities")
    ('1 triple', '1,200 triples', '0 entities')
    """
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def percent(share: float) -> str:
    """A share in percent, without the sign.

    >>> percent(0.1234)
    '12.3'
    """
    return f"{100 * share:.1f}"


def duration(seconds: float) -> str:
    """Writes seconds as people say them.

    >>> [duration(s) for s in (7, 95, 5400, 200_000, float("inf"))]
    ['7 s', '1:35 min', '1:30 h', '55:33 h', '?']
    """
    if not math.isfinite(seconds):
        return "?"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"


def closest(name: str, names: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The names most like `name`, best first, whatever their case: for the end of a message."""
    by_folded = {candidate.casefold(): candidate for candidate in names}
    return tuple(by_folded[match] for match in get_close_matches(name.casefold(), by_folded, n=count))


def markdown_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], rule: Sequence[str] | None = None
) -> list[str]:
    """Lines of a table, words to the left in its first column, figures to the right in the others.

    rule: where it is otherwise, a mark for each column: "---" for words, "--:" for figures.

    >>> print(*markdown_table(["structure", "MRR"], [["2p", "12.3"]]), sep="\\n")
    | structure | MRR |
    | --- | --: |
    | 2p | 12.3 |
    """
    marks = rule or ["---"] + ["--:"] * (len(header) - 1)
    return [f"| {' | '.join(row)} |" for row in (header, marks, *rows)]


def visible(text: str) -> str:
    """A name for a terminal: signs that would move its cursor, colour it or turn its direction are spelled out.

    >>> visible("red" + chr(27) + "[31m")
    'red\\\\x1b[31m'
    """
    return "".join(ascii(sign)[1:-1] if _steers(sign) else sign for sign in text)


def _steers(sign: str) -> bool:
    """Controls, line ends and what sets the direction of writing; joiners of letters are a part of names."""
    return unicodedata.category(sign) in _STEERING or unicodedata.bidirectional(sign) in _TURNING
