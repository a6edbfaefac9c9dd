"""The field's nested tuples of ids: `((5, (2,)), (7, (4, -2)))`, with -2 for a negation and -1 for a union.

Ids mean something only with a vocabulary, so both directions need one.
"""

from __future__ import annotations

import ast
import re
from numbers import Integral
from typing import Any

from pathformer.errors import QuerySizeError, QuerySyntaxError, UnknownIdError, UnsupportedQueryError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import DEPTH_LIMIT, Query, Request
from pathformer.query.compile.bind import bind
from pathformer.query.compile.to_tree import check_length, to_tree
from pathformer.query.iris import Naming
from pathformer.query.print import to_query, unbind
from pathformer.query.structures import NEGATION, UNION, instance_of_tree, tree_of_instance

__all__ = ["parse", "parse_ids", "recognises", "request", "write"]

_SIGNS = re.compile(r"[\s0-9(),-]+")
_EXAMPLE = "((5, (2,)), (7, (4, -2)))"


def recognises(text: str) -> bool:
    """Whether the text holds nothing but numbers, parentheses and commas."""
    return "(" in text and bool(_SIGNS.fullmatch(text))


def parse(text: str | tuple[Any, ...], naming: Naming | None = None) -> Query:
    """Read a tuple, written as text or as Python's own."""
    vocabulary = _vocabulary(naming)
    return unbind(bind(parse_ids(text, vocabulary), vocabulary), vocabulary)


def parse_ids(text: str | tuple[Any, ...], vocabulary: Vocabulary) -> Query:
    """Reads a tuple and keeps its ids."""
    instance = _literal(text) if isinstance(text, str) else text
    _check_nesting(instance)
    _check_numbers(instance)
    if _holds_name(instance):
        raise _wrong(instance, "tuples take ids, not names")
    _check(instance, vocabulary)
    tree = tree_of_instance(instance)
    check_length(tree)
    return to_query(tree)


def request(text: str, naming: Naming | None = None) -> Request:
    """Read a tuple as something to ask."""
    return Request(parse(text, naming))


def write(query: Query, naming: Naming | None = None) -> str:
    """Print a query as a tuple of the vocabulary's ids."""
    vocabulary = _vocabulary(naming)
    return str(instance_of_tree(to_tree(bind(query, vocabulary), vocabulary)))


def _vocabulary(naming: Naming | None) -> Vocabulary:
    if naming is None or naming.vocabulary is None:
        raise UnsupportedQueryError(
            "tuples contain ids, which have a meaning only in a graph: name that graph with --graph (naming=...)"
        )
    return naming.vocabulary


def _literal(text: str) -> Any:
    try:
        if _SIGNS.fullmatch(text):
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    raise QuerySyntaxError(f"expected nested tuples of ids such as {_EXAMPLE}, found {_short(text)}", text)


def _check_nesting(instance: Any) -> None:
    """Refuse what nests too deep even to be printed in a message; without recursion."""
    level, depth = [instance], 0
    while level := [part for node in level if isinstance(node, tuple | list) for part in node]:
        depth += 1
        if depth > DEPTH_LIMIT + 1:  # the innermost tuple holds operators
            raise QuerySizeError(f"the tuple nests more than {DEPTH_LIMIT} levels")


def _holds_name(node: Any) -> bool:
    return isinstance(node, str) or (isinstance(node, tuple | list) and any(map(_holds_name, node)))


def _check(instance: Any, vocabulary: Vocabulary) -> None:
    """Refuse what is not a tuple of the benchmark's kind, by the part that is wrong."""
    for inner in _inner(instance, vocabulary):
        _check(inner, vocabulary)


def _inner(node: Any, vocabulary: Vocabulary) -> tuple[Any, ...]:
    """The tuples within a chain or a fork that must be checked in turn."""
    match node:
        case (start, tuple(operators)) if operators and all(map(_is_id, operators)) and operators != (UNION,):
            if any(operator < 0 and operator != NEGATION for operator in operators):
                raise _wrong(node, f"after its start stand relation ids and {NEGATION} for a negation")
            for relation in operators:
                _check_id("relation", relation, vocabulary.relation_count)
            if _is_id(start) and start >= 0:
                _check_id("entity", start, vocabulary.entity_count)
                return ()
            if isinstance(start, tuple):
                return (start,)
            raise _wrong(node, "a chain starts with an entity id or a fork")
        case (*branches, tuple(last)) if last == (UNION,) and len(branches) > 1:
            return tuple(branches)
        case (_, _, *_) if all(isinstance(branch, tuple) for branch in node):
            return tuple(node)
    raise _wrong(node, "expected (start, (operators)), or two or more branches")


_LONGEST = 1 << 64  # an id is far below; a number of thousands of digits cannot even be printed


def _check_numbers(instance: Any) -> None:
    """Refuses numbers that are no ids of any graph, before they are printed or looked up."""
    if isinstance(instance, tuple | list):
        for part in instance:
            _check_numbers(part)
    elif _is_id(instance) and abs(instance) >= _LONGEST:
        problem = f"a number of about {int(instance).bit_length() * 3 // 10:,} digits is no id"
        raise QuerySyntaxError(f"{problem}: expected nested tuples of ids such as {_EXAMPLE}", "")


def _check_id(kind: str, number: int, count: int) -> None:
    """Refuse a number that is no id here, where it is still the one that was typed: inverses become swapped atoms."""
    if number >= count:
        raise UnknownIdError(kind, number, count)


def _wrong(node: Any, why: str) -> QuerySyntaxError:
    return QuerySyntaxError(f"{_short(str(node))} is not a query: {why}, as in {_EXAMPLE}", str(node))


def _is_id(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
