"""Long blocks of triples in pieces, so that rdflib's algebra takes time by their number and not by its square.

rdflib orders the triples of a block for evaluation, three times, each by sorting what is left once a triple: a thousand
took five seconds, ten thousand minutes. A block means the same as a join of groups of its triples.
"""

from __future__ import annotations

from typing import Any

from rdflib.plugins.sparql.algebra import traverse
from rdflib.plugins.sparql.parserutils import CompValue

__all__ = ["in_pieces"]

_TRIPLES = 50  # of a block that stays as it is


def in_pieces(parsed: Any) -> Any:
    """A parsed query whose blocks are short."""
    return traverse(parsed, visitPost=_shortened)


def _shortened(node: Any) -> Any:
    if not isinstance(node, CompValue) or node.name != "GroupGraphPatternSub" or not node.part:
        return None  # stays
    node["part"] = [piece for part in node.part for piece in _pieces(part)]
    return node


def _pieces(part: Any) -> list[Any]:
    if part.name != "TriplesBlock":
        return [part]
    terms = [term for triples in part.triples for term in triples]
    if len(terms) <= 3 * _TRIPLES:
        return [part]
    starts = range(0, len(terms), 3 * _TRIPLES)
    return [_group(terms[start : start + 3 * _TRIPLES]) for start in starts]


def _group(terms: list[Any]) -> Any:
    block = CompValue("TriplesBlock", triples=[terms])
    return CompValue("GroupOrUnionGraphPattern", graph=[CompValue("GroupGraphPatternSub", part=[block])])
