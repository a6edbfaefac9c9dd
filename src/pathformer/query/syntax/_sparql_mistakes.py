"""Sentences about SPARQL that does not parse.

The parser says where a pattern begins that it could not read, which is of little help. Most mistakes are about names:
blanks and signs that a prefixed name cannot hold, or no prefix at all. They show in the words themselves, so those are
looked at first, from left to right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from urllib.parse import unquote

from pathformer.errors import QuerySyntaxError, UnsupportedQueryError
from pathformer.query.iris import local_of, name_of

__all__ = ["mistake", "refusal"]

_KEYWORDS = (
    *("ADD", "ALL", "AS", "ASC", "ASK", "BASE", "BIND", "BY", "CLEAR", "CONSTRUCT", "COPY", "CREATE", "DATA"),
    *("DEFAULT", "DELETE", "DESC", "DESCRIBE", "DISTINCT", "DROP", "EXISTS", "FALSE", "FILTER", "FROM", "GRAPH"),
    *("GROUP", "HAVING", "IN", "INSERT", "INTO", "LIMIT", "LOAD", "MINUS", "MOVE", "NAMED", "NOT", "OFFSET"),
    *("OPTIONAL", "ORDER", "PREFIX", "REDUCED", "SELECT", "SEPARATOR", "SERVICE", "SILENT", "TO", "TRUE", "UNDEF"),
    *("UNION", "USING", "VALUES", "WHERE", "WITH"),
)
_OPENERS = {"AS", "BIND", "FALSE", "FILTER", "GRAPH", "MINUS", "OPTIONAL", "SERVICE", "TRUE", "UNION", "VALUES", "a"}
_BLANK = re.compile(r"<([^\s<>?={}&|]+(?: +[^\s<>?={}&|]+)+)>")  # an IRI but for its blanks, and no comparison
_TOKEN = re.compile(
    r"(?P<skip>\s+|\#[^\n]*)"
    r"|(?P<iri><[^\s<>]*>)"
    r"|(?P<string>\"{3}.*?\"{3}|'{3}.*?'{3}|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<language>@[A-Za-z][\w-]*)"
    r"|(?P<variable>[?$]\w+)"
    r"|(?P<name>(?:[^\W\d_][\w.-]*)?:(?:[\w%.-]*[\w%-])?)"
    r"|(?P<word>[^\W\d_][\w-]*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
_ODD = re.compile(r"""[\w%.-]*(?:["'&@~`]|\(\w+\))[^\s<>{};,|/^:]*""")  # no part of a name, nor of a property path
_TERMS = {"name", "variable", "iri", "string", "number"}

Token = re.Match[str]


def mistake(text: str, namespace: str, seen: str, position: int) -> QuerySyntaxError:
    """The error for a text that does not parse; seen, place: what the parser says of it."""
    if found := _BLANK.search(text):
        name = name_of(found[1], namespace)
        right = f"<{name.replace(' ', '%20')}>" if "://" in name else f":{local_of(name)}"
        return QuerySyntaxError(f"an IRI cannot contain a space: write {right}", text, found.start())
    tokens = [token for token in _TOKEN.finditer(text) if token.lastgroup != "skip"]
    problems = chain(_problems(text, tokens), _braces(tokens))
    problem, where = next(problems, (f"this is not valid SPARQL: the error is near {seen}", position))
    return QuerySyntaxError(problem, text, where)


def _braces(tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """Yields the problem and position of a missing brace."""
    left = 0
    for token in tokens:
        left += {"{": 1, "}": -1}.get(token[0], 0)
        if left < 0:
            yield "this '}' has no matching '{'", token.start()
            return
    if left:
        yield "expected '}': a '{' is still open at the end of the query", tokens[-1].end()


def _problems(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """Problems with names and words, from left to right, each with its place."""
    for number, token in enumerate(tokens):
        before, behind = tokens[:number][-2:], tokens[number + 1 :]
        if token.lastgroup == "name" and not (before and before[-1][0].upper() == "PREFIX"):
            if rest := _signs(text, token, behind) or _words(text, token, before, behind):
                what = "a space" if " " in rest else "this character"
                yield f"a name cannot contain {what}: write {_written(token[0] + rest)}", token.start()
        elif token.lastgroup == "word" and not _known(token[0], behind):
            choices = f"write {_written(':' + token[0])} for a name, ?{token[0]} for a variable"
            near = _alike(token[0])
            yield (
                f"{token[0]!r} is not a SPARQL keyword: {f'did you mean {near}? Or ' if near else ''}{choices}",
                token.start(),
            )


def _signs(text: str, name: Token, behind: Sequence[Token]) -> str:
    """Signs right behind a name that were meant to be a part of it, or a string that was meant to be all of it."""
    if name[0].endswith(":") and behind and behind[0].lastgroup == "string" and behind[0].start() == name.end():
        return behind[0][0][1:-1]
    odd = _ODD.match(text, name.end())
    return odd[0] if odd else ""


def _words(text: str, name: Token, before: Sequence[Token], behind: Sequence[Token]) -> str:
    """Words behind a name, after blanks, that can only be meant as a part of it."""
    end = name.end()
    for number, word in enumerate(behind):
        between, later = text[end : word.start()], behind[number + 1 :]
        if word.lastgroup not in {"word", "number"} or not between or between.strip(" "):
            break
        if end == name.end() and not _continues(word, later):
            break
        end = word.end()
    following = [token for token in behind if token.start() >= end][:2]
    term = bool(following) and _is_term(following[0])
    relation = bool(before) and _is_term(before[-1]) and not (len(before) > 1 and _is_term(before[-2]))
    if relation and not term:
        return ""  # the words stand where the object is
    subject = bool(before) and before[-1][0] in ".{}"
    if subject and term and following[-1][0] in ".;,}":
        return ""  # the words stand where the relation is
    return text[name.end() : end]


def _continues(word: Token, later: Sequence[Token]) -> bool:
    if word.lastgroup == "number":  # the value of a relation, unless another term follows
        return bool(later) and _is_term(later[0])
    opener = word[0] in _OPENERS or word[0].upper() in _OPENERS  # what may stand behind a name
    return not (opener or _is_function(later) or _alike(word[0]))


def _known(word: str, later: Sequence[Token]) -> bool:
    """Whether SPARQL has such a word: its own, or a function's."""
    return word == "a" or word.upper() in _KEYWORDS or _is_function(later)


def _is_function(later: Sequence[Token]) -> bool:
    return bool(later) and later[0][0] == "("


def _alike(word: str) -> str | None:
    """The word of SPARQL that was meant by one in capitals."""
    return next(iter(get_close_matches(word, _KEYWORDS, 1, 0.8)), None) if word.isupper() else None


def _is_term(token: Token) -> bool:
    return token.lastgroup in _TERMS


def _written(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"{prefix}:{local_of(unquote(local))}"


def refusal(construct: str, instead: str = "") -> UnsupportedQueryError:
    """The error that names a construct, and what can be asked instead."""
    return UnsupportedQueryError(
        f"{construct} is not supported. Supported are SELECT of one variable, triple patterns, UNION, "
        "FILTER NOT EXISTS, MINUS, the property paths / ^ |, PREFIX, BASE, DISTINCT, LIMIT" + instead
    )
