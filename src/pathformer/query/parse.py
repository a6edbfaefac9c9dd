"""Text to query in any syntax, and back. The folder `syntax` is the registry: one file a syntax, each with

recognises(text) -> bool               whether a text looks like this syntax
parse(text, naming) -> Query           QuerySyntaxError, UnsupportedQueryError
request(text, naming) -> Request       the same, with what belongs to asking
write(query, naming) -> str            what `parse` reads back as the same query
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

from pathformer import plugins
from pathformer.errors import QuerySizeError, QuerySyntaxError
from pathformer.limits import limit, too_much
from pathformer.query.ast import Query, Request
from pathformer.query.iris import Naming

__all__ = ["detect", "parse", "request", "syntaxes", "write"]

_DEFAULT = "formula"


def parse(text: str, syntax: str | None = None, naming: Naming | None = None) -> Query:
    """Read a query; without `syntax` the text shows which one it is."""
    _check_text(text)
    query: Query = _module(syntax or detect(text)).parse(text, naming)
    return query


def request(text: str, syntax: str | None = None, naming: Naming | None = None) -> Request:
    """Read a query with what its text says about asking, such as SPARQL's LIMIT."""
    _check_text(text)
    found: Request = _module(syntax or detect(text)).request(text, naming)
    return found


def write(query: Query, syntax: str = _DEFAULT, naming: Naming | None = None) -> str:
    """Print a query."""
    text: str = _module(syntax).write(query, naming)
    return text


def _check_text(text: str) -> None:
    """Refuses a text that is no question whatever it says: too long, or with half a sign in it."""
    if not isinstance(text, str):
        raise QuerySyntaxError(f"a question is text, not a value of the type {type(text).__name__}", "")
    if len(text) > limit("question"):
        raise QuerySizeError(too_much("question", f"the question has {len(text):,} signs"))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        shown = text[: error.start] + "\N{REPLACEMENT CHARACTER}" + text[error.start + 1 :]
        problem = (
            f"sign {error.start + 1} is half of a surrogate pair, and no text: is the encoding of the input right?"
        )
        raise QuerySyntaxError(problem, shown.encode("utf-8", "replace").decode(), error.start) from None


def detect(text: str) -> str:
    """The syntax that a text is written in; what none recognises is taken for a formula, whose errors explain most."""
    return next((name for name in syntaxes() if _module(name).recognises(text)), _DEFAULT)


@cache  # looking for third parties' plugins takes longer than a parse
def syntaxes() -> tuple[str, ...]:
    """The names of all syntaxes."""
    return plugins.names("syntaxes")


@cache
def _module(name: str) -> ModuleType:
    return plugins.load("syntaxes", name)
