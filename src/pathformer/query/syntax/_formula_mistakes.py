"""Sentences about formulas that do not parse.

The parser knows the place and the terminal; people want to hear of arguments, parentheses and quotes. So the tokens
before the place are read once more, to know in which atom or group the place lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from lark import Lark, Token
from lark.exceptions import UnexpectedInput

from pathformer.query.print import quote
from pathformer.query.syntax.formula import unquote

__all__ = ["sentence"]

_NAMES = {"BARE", "QUOTED"}
_ORDINAL = ("first", "second")
_SIGNS = {"_AND": "'&'", "_OR": "'|'", "_NOT": "'!'", "_QUANTIFIER": "'∃'", "LPAR": "'('", "COLON": "':'"}

_TYPESET = "“”„«»‚‹›"  # quote signs of letters and books, which are letters of a name here
_APOSTROPHES = ("‘", "’")  # the same, but names begin with them, too: ‘Abd, ’t Hooft

_TUPLE = "a tuple contains ids, as in (5, (2,)), not names; with names, write ?x : relation(constant, ?x)"


@dataclass(slots=True)
class _Frame:
    """An open parenthesis: of an atom, with the arguments seen so far, or of a group."""

    atom: bool
    arguments: int = 0


def sentence(text: str, error: UnexpectedInput, parser: Lark) -> tuple[str, str, int]:
    """Returns the problem, the text and the position of an error, as QuerySyntaxError wants them."""
    token: Token | None = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        return _at_end(list(parser.lex(text))), text, len(text.rstrip())
    position = cast(int, error.pos_in_stream)
    before = list(parser.lex(text[:position]))
    if token is None:
        return _bad_sign(text, position), text, position
    if not before and token.type == "LPAR" and "?" not in text:
        return _TUPLE, text, position
    if word := _word_of_another_case(before, token):
        return f"write {word.casefold()!r} or {word.upper()!r}, found {str(word)!r}", text, cast(int, word.start_pos)
    return _say_unexpected(before, token), text, position


def _bad_sign(text: str, position: int) -> str:
    sign = text[position]
    if sign in "\"'":
        return (
            f"the quote {sign} is not closed on its line, or the name contains an escape other than "
            r"\" \' \\ \n \r \t \uXXXX \UXXXXXXXX (at most \U0010FFFF)"
        )
    if sign == "?":
        return "expected the name of a variable after '?', such as ?x"
    return f"{sign!r} has no meaning here; put quotes around a name that contains it"


def _at_end(tokens: list[Token]) -> str:
    if not tokens:
        return "the query is empty: expected '?x : relation(constant, ?x)'"
    return _say_expected(tokens, "the end of the query", None)


def _say_unexpected(before: list[Token], token: Token) -> str:
    return _say_expected(before, repr(str(token)), token)


def _say_expected(before: list[Token], found: str, token: Token | None) -> str:
    kind = token.type if token is not None else "$END"
    if not before:
        return f"a question starts with its answer variable and a colon, as in '?x : ...', found {found}"
    last = before[-1]
    if len(before) == 1:
        return f"expected ':' after the answer {last}, found {found}"
    frames = _frames(before)
    if frames and frames[-1].atom:
        if token is not None and {kind, last.type} <= _NAMES:
            return _one_name(last, token)
        return _in_atom(frames[-1], last, found, kind)
    if last.type in _NAMES:
        hint = f"; {_one_name(last, token)}" if token is not None and kind in _NAMES else ""
        return f"expected '(' after the relation {str(last)!r}, found {found}{hint}"
    if last.type in {"RPAR", "VARIABLE"}:
        return _after_part(last, found, kind, bool(frames))
    return _instead_of_atom(last, found, kind)


def _in_atom(frame: _Frame, last: Token, found: str, kind: str) -> str:
    if last.type in {"LPAR", "COMMA"}:
        if frame.arguments >= len(_ORDINAL):
            return f"a relation has two arguments, subject and object; found a third, {found}"
        hint = f'; to use it as a name, write "{found[1:-1]}"' if found[1:-1].isalpha() and kind[0] == "_" else ""
        return f"expected a constant or a variable as the {_ORDINAL[frame.arguments]} argument, found {found}{hint}"
    which = _ORDINAL[min(frame.arguments, 2) - 1]
    if kind == "COMMA":
        return "a relation has two arguments, subject and object; found ',' and a third"
    if kind == "RPAR" and frame.arguments == 1:
        return "a relation has two arguments, subject and object; found one"
    wanted = "," if frame.arguments == 1 else ")"
    return f"expected {wanted!r} after the {which} argument, found {found}"


def _one_name(last: Token, token: Token) -> str:
    """Says how to write two names side by side that are meant as one."""
    first, second = (unquote(name) if name.type == "QUOTED" else str(name) for name in (last, token))
    if last.type == "BARE" and (
        first[0] in _TYPESET or (first.startswith(_APOSTROPHES) and second.endswith(_APOSTROPHES))
    ):
        return f'{first[0]} is not a quote sign here: write " before and after the name'
    if last.end_pos != token.start_pos:
        return f"put quotes around a name of several words: {quote(f'{first} {second}')}"
    if last.type == token.type and last[-1] == token[0]:
        return f"do not double a quote inside a name: write {quote(f'{first}{token[0]}{second}')}"
    return "put quotes around the whole name"


def _word_of_another_case(before: list[Token], token: Token) -> Token | None:
    """And or Or behind an atom; Not before one, or before a parenthesis, where it is read as a relation."""

    def means(found: Token, *words: str) -> bool:
        return found.type == "BARE" and found.casefold() in words

    frames = _frames(before)
    match before, frames:
        case [*_, relation, _, _], [*_, _Frame(atom=True, arguments=1)] if token.type == "LPAR":
            return relation if means(relation, "not") else None
        case _, [*_, _Frame(atom=True)]:
            return None
        case [*_, last], _ if last.type == "RPAR":
            return token if means(token, "and", "or") else None
        case [_, _, *_], _:
            return before[-1] if means(before[-1], "not") else None
    return None


def _after_part(last: Token, found: str, kind: str, open_group: bool) -> str:
    if last.type == "VARIABLE":
        return f"a variable cannot be a relation: expected the name of a relation, found {last}"
    if kind == "RPAR":
        return "this ')' has no matching '('"
    if kind == "COMMA":
        return "',' does not join parts of a question: write '&'"
    if kind == "$END":
        return "expected ')': a '(' is still open at the end of the query"
    wanted = "'&', '|' or ')'" if open_group else "'&', '|' or the end"
    return f"expected {wanted} after an atom, found {found}"


def _instead_of_atom(last: Token, found: str, kind: str) -> str:
    after = _SIGNS.get(last.type, repr(str(last)))
    if kind == "VARIABLE":
        return f"a variable cannot be a relation: expected an atom such as relation(constant, ?x), found {found}"
    if last.type == "_QUANTIFIER" and kind in _NAMES:
        return f"expected '(' after {str(last)!r}: write !∃v. (...), so that it is clear how far it reaches"
    return f"expected an atom such as relation(constant, ?x) after {after}, found {found}"


def _frames(tokens: list[Token]) -> list[_Frame]:
    """The parentheses that are open after these tokens."""
    frames: list[_Frame] = []
    for before, token in pairwise(tokens):
        if token.type == "LPAR":
            frames.append(_Frame(atom=before.type in _NAMES and not (frames and frames[-1].atom)))
        elif token.type == "RPAR" and frames:
            frames.pop()
        elif token.type in {*_NAMES, "VARIABLE"} and frames and frames[-1].atom:
            frames[-1].arguments += 1
    return frames
