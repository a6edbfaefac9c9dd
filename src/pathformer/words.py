"""Figures as messages and reports write them."""

from __future__ import annotations

__all__ = ["counted", "percent"]


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
