"""The formula language: `?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)`.

`formula.lark` beside this file is the grammar and the documentation. `write` prints what `parse` reads back as the very
same query, variable names, order and parentheses included.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathformer.errors import QuerySyntaxError
from pathformer.query.ast import And, Atom, Constant, Formula, Not, Or, Query, Request, Term, Variable, check_depth
from pathformer.query.iris import Naming
from pathformer.query.print import text_of

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["GRAMMAR", "parse", "recognises", "request", "unquote", "write"]

GRAMMAR = Path(__file__).with_name("formula.lark")

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}


def parse(text: str, naming: Naming | None = None) -> Query:
    """Read a formula; `naming` is not needed here. QuerySyntaxError underlines the place."""
    from lark.exceptions import UnexpectedInput

    from pathformer.query.syntax._formula_mistakes import sentence

    try:
        query: Query = _parser().parse(text)  # type: ignore[assignment]  # the transformer returns a Query
    except UnexpectedInput as error:
        raise QuerySyntaxError(*sentence(text, error, _parser())) from None
    check_depth(query.formula)
    if "∃" in text:
        _check_quantifiers(text, query.answer.name)
    return query


def recognises(text: str) -> bool:
    """Whether the text starts with a variable and a colon; what no syntax recognises is read as a formula too."""
    return bool(re.match(r"\s*\?\w+\s*:", text))


def request(text: str, naming: Naming | None = None) -> Request:
    """Read a formula as something to ask."""
    return Request(parse(text, naming))


def write(query: Query, naming: Naming | None = None) -> str:
    """Print a query; ids of a bound query print as numbers."""
    return f"?{query.answer.name} : {text_of(query.formula)}"


def _check_quantifiers(text: str, answer: str) -> None:
    """`∃v.` changes nothing, since every variable but the answer is existential; the answer cannot be."""
    for token in _parser().lex(text):
        if token.type == "_QUANTIFIER" and answer in re.findall(r"\w+", token):
            raise QuerySyntaxError(f"the answer ?{answer} cannot be quantified: remove its ∃", text, token.start_pos)


def unquote(token: str) -> str:
    """The name that a token between quotes stands for."""

    def sign(found: re.Match[str]) -> str:
        short, long, letter = found.groups()
        return _LETTERS.get(letter, letter) if letter else chr(int(short or long, 16))

    return _ESCAPE.sub(sign, token[1:-1])


@cache
def _parser() -> Lark:
    """The parser with the AST builder inside it, so that no parse tree is made and no nesting is too deep for it."""
    from lark import Lark, Transformer, v_args

    @v_args(inline=True)
    class Builder(Transformer[Any, Any]):
        def bare(self, token: str) -> str:
            return str(token)

        def quoted(self, token: str) -> str:
            return unquote(token)

        def variable(self, token: str) -> Variable:
            return Variable(str(token[1:]))

        def constant(self, name: str) -> Constant:
            return Constant(name)

        def atom(self, relation: str, subject: Term, object_: Term) -> Atom:
            return Atom(relation, subject, object_)

        def negation(self, part: Formula) -> Not:
            return Not(part)

        def conjunction(self, *parts: Formula) -> And:
            return And(parts)

        def disjunction(self, *parts: Formula) -> Or:
            return Or(parts)

        def start(self, answer: str, formula: Formula) -> Query:
            return Query(Variable(str(answer[1:])), formula)

    grammar = GRAMMAR.read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="basic", transformer=Builder(), maybe_placeholders=False)
