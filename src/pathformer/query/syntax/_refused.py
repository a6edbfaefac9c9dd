"""The one sentence for SPARQL that is outside the language."""

from __future__ import annotations

from pathformer.errors import UnsupportedQueryError

__all__ = ["refused"]


def refused(construct: str, instead: str = "") -> UnsupportedQueryError:
    """The error that names a construct, and what can be asked instead."""
    return UnsupportedQueryError(
        f"{construct} is not in the SPARQL that can be asked here: SELECT of one variable, triple patterns, UNION, "
        "FILTER NOT EXISTS, MINUS, the property paths / ^ |, PREFIX, BASE, DISTINCT, LIMIT" + instead
    )
