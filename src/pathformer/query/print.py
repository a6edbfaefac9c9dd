"""From ids, formulas and trees back to text.

unbind     Query of ids -> Query of names            to_query   computation tree -> Query
text_of    formula -> its text                       spell      computation tree -> its text in labels
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from pathformer.errors import UnsupportedQueryError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import And, Atom, Constant, Formula, Not, Or, Query, Term, Variable, all_of, map_atoms
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union, variable_of

__all__ = ["BARE", "quote", "spell", "text_of", "to_query", "unbind"]

_SIGN = r"[^\s(),?&|!\"':;∧∨¬∃<>{}\[\]\\`]"  # the grammar's BARE, which a test compares
BARE = re.compile(rf"{_SIGN}(?:{_SIGN}|[:']+(?={_SIGN}))*")
_WORDS = frozenset({"and", "AND", "or", "OR", "not", "NOT"})


def text_of(part: Formula | Term) -> str:
    """Writes a formula, an atom or a term."""
    match part:
        case Variable(name):
            return f"?{name}"
        case Constant(name):
            return _name(name)
        case Atom(relation, subject, object_):
            return f"{_name(relation)}({text_of(subject)}, {text_of(object_)})"
        case Not(inner):
            return f"!{_operand(inner, (And, Or))}"
        case And(parts):
            return " & ".join(_operand(inner, (And, Or)) for inner in parts)
        case Or(parts):
            return " | ".join(_operand(inner, Or) for inner in parts)


def _operand(part: Formula, wrapped: Any) -> str:
    return f"({text_of(part)})" if isinstance(part, wrapped) else text_of(part)


def _name(name: str | int) -> str:
    if isinstance(name, int):
        return str(name)
    if BARE.fullmatch(name) and name not in _WORDS and name.isprintable():
        return name
    return quote(name)


def quote(name: str) -> str:
    """A name between quotes."""
    return '"' + "".join(map(_escape, name)) + '"'


def _escape(sign: str) -> str:
    if sign in '"\\':
        return "\\" + sign
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04X}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08X}"


def unbind(query: Query, vocabulary: Vocabulary) -> Query:
    """Replaces the ids of a query by names; names that are there already stay."""

    def name(term: Term) -> Term:
        is_id = isinstance(term, Constant) and isinstance(term.name, int)
        return Constant(vocabulary.entity(term.name)) if is_id else term  # type: ignore[arg-type]

    def change(atom: Atom) -> Atom:
        relation = atom.relation
        named = vocabulary.relation(relation) if isinstance(relation, int) else relation
        return Atom(named, name(atom.subject), name(atom.object))

    return Query(query.answer, map_atoms(query.formula, change))


def to_query(
    tree: Tree, vocabulary: Vocabulary | None = None, answer: str | None = None, *, keep_names: bool = False
) -> Query:
    """Returns a query with this tree, with the names of a vocabulary or, without one, with ids.

    Its variables are `?x`, the answer, and `?v1`, `?v2`, ... on the way to it. keep_names: call them as the tree does,
    for people: two that the question called alike may then stand in one formula.
    """
    variable = Variable(answer or (keep_names and variable_of(tree)) or "x")
    fresh = (Variable(f"v{number}") for number in count(1) if f"v{number}" != variable.name)
    query = Query(variable, all_of(_parts(tree, variable, fresh, keep_names)))
    return query if vocabulary is None else unbind(query, vocabulary)


def spell(tree: Tree, vocabulary: Vocabulary, entity: int | None = None) -> str:
    """Writes in labels what a tree says of its variable, or of an entity in its place."""
    query = to_query(tree, keep_names=True)

    def term(given: Term) -> Term:
        if isinstance(given, Constant):
            return Constant(vocabulary.distinct_label(int(given.name)))
        return given if entity is None or given != query.answer else Constant(vocabulary.distinct_label(entity))

    def change(atom: Atom) -> Atom:
        return Atom(vocabulary.short_relation_label(int(atom.relation)), term(atom.subject), term(atom.object))

    return text_of(map_atoms(query.formula, change))


def _parts(tree: Tree, at: Variable, fresh: Iterator[Variable], keep: bool) -> list[Formula]:
    """Returns the parts of a conjunction that holds if `at` is in the set."""
    match tree:
        case Projection(relation, Anchor(entity)):
            return [_atom(relation, Constant(entity), at)]
        case Projection(relation, of):
            name = variable_of(of) if keep else None
            via = next(fresh) if name is None else Variable(name)
            return [*_parts(of, via, fresh, keep), _atom(relation, via, at)]
        case Negation(of):
            return [Not(all_of(_parts(of, at, fresh, keep)))]
        case Intersection(branches):
            return [part for branch in branches for part in _parts(branch, at, fresh, keep)]
        case Union(branches):
            return [Or(tuple(all_of(_parts(branch, at, fresh, keep)) for branch in branches))]
        case Anchor(entity):
            raise UnsupportedQueryError(f"a formula cannot say that ?{at.name} is entity {entity} itself")


def _atom(relation: int, source: Term, target: Term) -> Atom:
    """Returns the atom of a projection; an inverse relation is written with its forward name."""
    return Atom(relation, source, target) if relation % 2 == 0 else Atom(relation - 1, target, source)
