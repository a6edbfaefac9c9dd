"""Names of a graph outside the formula language: IRIs in SPARQL, ids in tuples.

A name that is an IRI already (a graph read from RDF) stays one. Any other name is an IRI under the graph's own
namespace, percent-encoded where an IRI or a SPARQL local name cannot hold its signs:

    New York  in graph films   =   <urn:pathformer:films:New%20York>   =   :New%20York

The namespace is a URN because it promises no web page; the empty prefix is predeclared to it. A query that was written
without a graph is under that of `graph`, which every graph takes for its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.vocabulary import Vocabulary

__all__ = ["Naming", "iri_of", "local_of", "name_of", "namespace_of"]

# SPARQL's PN_CHARS_BASE (rule 164), digits and the underscore: what may stand anywhere in a local name
_LETTER = re.compile(
    "[A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff]"
)
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`\x7f]+")


def namespace_of(graph: str) -> str:
    """The namespace of a graph of that name."""
    return f"urn:pathformer:{quote(graph, safe='')}:"


_ANY = namespace_of("graph")


@dataclass(frozen=True, eq=False, slots=True)
class Naming:
    """The part of a graph that a syntax needs: names and ids, and the namespace of its IRIs."""

    vocabulary: Vocabulary | None = None
    namespace: str = _ANY

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> Naming:
        """Returns the naming of a graph."""
        return cls(kg.vocabulary, namespace_of(kg.name))


def iri_of(name: str, namespace: str) -> str:
    """The IRI of a name; `name_of` brings it back."""
    if _IRI.fullmatch(name) and name.isprintable() and not name.startswith((namespace, _ANY)):
        return name
    return namespace + local_of(name)


def name_of(iri: str, namespace: str) -> str:
    """The name that an IRI stands for in the graph."""
    own = next((own for own in (namespace, _ANY) if iri.startswith(own)), None)
    return iri if own is None else unquote(iri.removeprefix(own))


def local_of(name: str) -> str:
    """A name as the local part of a prefixed name: letters and digits of any script stay, other signs are encoded."""
    last = len(name) - 1
    return "".join(_spell(sign, 0 < position < last) for position, sign in enumerate(name))


def _spell(sign: str, inside: bool) -> str:
    plain = _LETTER.fullmatch(sign) or (inside and sign in "-.")
    return sign if plain and sign.isprintable() else "".join(f"%{byte:02X}" for byte in sign.encode())
