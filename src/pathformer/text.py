"""Numbers and names as messages and reports write them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = ["closest", "counted", "duration", "markdown_table", "percent", "visible"]

_STEERING = {"Cc", "Zl", "Zp", "Cs"}
_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def counted(count: int, one: str, several: str | None = None) -> str:
    """Writes a number of things; several: their plural, if it is not one with an s.

    >>> counted(1, "triple"), counted(1200, "triple"), counted(0, "entity", "entities")
    ('1 triple', '1,200 triples', '0 entities')
    """
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def percent(share: float) -> str:
    """Writes a share in percent, without the sign.

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
    """Returns the names most like `name`, best first, in any case."""
    by_folded = {candidate.casefold(): candidate for candidate in names}
    return tuple(by_folded[match] for match in get_close_matches(name.casefold(), by_folded, n=count))


def markdown_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], rule: Sequence[str] | None = None
) -> list[str]:
    """Returns the lines of a table; the first column is aligned left, the others right.

    rule: the alignment of each column: "---" for words, "--:" for figures.

    >>> print(*markdown_table(["structure", "MRR"], [["2p", "12.3"]]), sep="\\n")
    | structure | MRR |
    | --- | --: |
    | 2p | 12.3 |
    """
    marks = rule or ["---"] + ["--:"] * (len(header) - 1)
    return [f"| {' | '.join(row)} |" for row in (header, marks, *rows)]


def visible(text: str) -> str:
    """Makes a name safe for a terminal: spells out characters that move its cursor, colour it or turn its direction.

    >>> visible("red" + chr(27) + "[31m")
    'red\\\\x1b[31m'
    """
    return "".join(ascii(sign)[1:-1] if _steers(sign) else sign for sign in text)


def _steers(sign: str) -> bool:
    """Whether a character is a control, a line end, or sets the direction of writing; joiners of letters are not."""
    return unicodedata.category(sign) in _STEERING or unicodedata.bidirectional(sign) in _TURNING
