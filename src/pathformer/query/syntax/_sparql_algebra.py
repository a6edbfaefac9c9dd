"""From rdflib's SPARQL algebra to a formula, by SPARQL's own semantics.

Patterns are conjunctions, UNION is `or`, NOT EXISTS and MINUS are `not`. Variables are where SPARQL differs from the
formula language, so each gets a name of its own scope:

- NOT EXISTS sees the variables that its group binds, and those that an enclosing NOT EXISTS has replaced by their
  values; any other variable in it is its own, even where the same name stands elsewhere.
- MINUS sees the variables that the patterns before it bind; one that shares none with them removes nothing.
- A variable that only one side of a UNION binds is refused where a NOT EXISTS or MINUS would look at it.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rdflib import BNode, Literal, URIRef
from rdflib import Variable as SparqlVariable
from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath
from rdflib.plugins.sparql.algebra import traverse
from rdflib.plugins.sparql.parserutils import CompValue

from pathformer.errors import FreeVariableError, ScopeError, UnsupportedQueryError
from pathformer.query.ast import (
    And,
    Atom,
    Constant,
    Formula,
    Not,
    Or,
    Query,
    Term,
    Variable,
    all_of,
    any_of,
    atoms,
    map_variables,
    variables,
)
from pathformer.query.iris import local_of, name_of
from pathformer.query.syntax._sparql_mistakes import refusal

__all__ = ["AlgebraReader", "in_pieces"]

logging.getLogger("rdflib.term").setLevel(logging.ERROR)  # it warns of IRIs that are only on their way to a name

_ANONYMOUS = re.compile(r"_:N[0-9a-f]{32}")  # what rdflib calls `[]`
_REFUSED = {
    "LeftJoin": "OPTIONAL",
    "Extend": "BIND",
    "Graph": "GRAPH",
    "ServiceGraphPattern": "SERVICE",
    "OrderBy": "ORDER BY",
    "Reduced": "REDUCED",
    "Group": "GROUP BY",
    "AggregateJoin": "an aggregate",
    "values": "VALUES",
    "Builtin_EXISTS": "FILTER EXISTS",
}


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern's formula, the variables that every solution binds, and those that some may bind."""

    parts: tuple[Formula, ...] = ()
    bound: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()

    def __and__(self, other: _Pattern) -> _Pattern:
        return _Pattern(self.parts + other.parts, self.bound | other.bound, self.maybe | other.maybe)

    @property
    def formula(self) -> Formula:
        """All parts as one."""
        return all_of(self.parts)


@dataclass(slots=True)
class _Scope:
    """The meanings of variables' names at a place; `given` are those that an enclosing NOT EXISTS replaced."""

    meanings: dict[str, str] = field(default_factory=dict)
    given: frozenset[str] = frozenset()


class AlgebraReader:
    """Reads one query."""

    def __init__(self, namespace: str) -> None:
        self.namespace, self.fresh = namespace, count(1)

    def read(self, answer: str, pattern: Any) -> Query:
        """The query that asks for one variable of an algebra pattern."""
        scope = _Scope()
        found = self._pattern(pattern, scope)
        if not found.parts:
            raise UnsupportedQueryError("the pattern is empty: write at least one triple between { and }")
        return _pretty(Query(Variable(self._name(answer, scope)), found.formula))

    def _pattern(self, node: Any, scope: _Scope) -> _Pattern:
        match node.name:
            case "BGP":
                found = _Pattern()
                for subject, predicate, object_ in node.triples:
                    found &= self._triple(subject, predicate, object_, scope)
                return found
            case "Join":
                return self._pattern(node.p1, scope) & self._pattern(node.p2, scope)
            case "Union":
                return self._union([self._pattern(side, scope) for side in _sides(node)])
            case "Filter":
                return self._filter(node, scope)
            case "Minus":
                return self._minus(node, scope)
            case "ToMultiSet":
                raise refusal("VALUES" if node.p.name == "values" else "a subquery")
            case name:
                raise refusal(_REFUSED.get(name, name))

    def _union(self, sides: list[_Pattern]) -> _Pattern:
        if not all(side.parts for side in sides):
            raise refusal("an empty side of UNION")
        bound = frozenset.intersection(*(side.bound for side in sides))
        maybe = frozenset.union(*(side.maybe for side in sides))
        return _Pattern((Or(tuple(side.formula for side in sides)),), bound, maybe)

    def _filter(self, node: Any, scope: _Scope) -> _Pattern:
        found = self._pattern(node.p, scope)
        for expression in _conditions(node.expr):
            if getattr(expression, "name", None) != "Builtin_NOTEXISTS":
                raise refusal(_condition_name(expression))
            seen = found.bound | scope.given
            inner = _Scope({name: self._name(name, scope) for name in seen}, seen)
            denied = self._pattern(expression.graph, inner)  # the attribute is algebra, the item is the raw parse
            self._check_bound(denied, found, scope, "FILTER NOT EXISTS")
            if not denied.parts:
                raise refusal("FILTER NOT EXISTS { }")
            if not variables(denied.formula):
                raise FreeVariableError(
                    "FILTER NOT EXISTS has no variable, so it is the same for every answer: leave it out"
                )
            if not seen & _names_in(denied, inner):
                raise ScopeError(
                    "FILTER NOT EXISTS shares no variable with the group that it stands in: SPARQL takes its variables "
                    "for others than those outside. Move it into the group that binds them"
                )
            found &= _Pattern((_deny(denied.formula),))
        return found

    def _minus(self, node: Any, scope: _Scope) -> _Pattern:
        found = self._pattern(node.p1, scope)
        removed: list[Formula] = []
        for side in _sides(node.p2):
            inner = _Scope({name: self._name(name, scope) for name in found.bound | scope.given}, scope.given)
            denied = self._pattern(side, inner)
            self._check_bound(denied, found, scope, "MINUS")
            shared = denied.maybe & found.bound
            if not shared <= denied.bound:
                (name, *_) = sorted(shared - denied.bound)
                raise ScopeError(f"?{name} is bound by only one side of a UNION inside MINUS: write two MINUS instead")
            if shared - scope.given:
                removed.append(denied.formula)
            elif shared:
                raise refusal("MINUS over variables that come from outside the FILTER NOT EXISTS around it")
        if not removed:
            return found  # without a shared variable MINUS removes nothing
        return found & _Pattern((_deny(any_of(removed)),))

    def _check_bound(self, denied: _Pattern, found: _Pattern, scope: _Scope, what: str) -> None:
        for name in sorted(denied.maybe & (found.maybe - found.bound - scope.given)):
            raise ScopeError(f"?{name} is bound by only one side of a UNION before {what}: bind it in every side")

    def _triple(self, subject: Any, predicate: Any, object_: Any, scope: _Scope) -> _Pattern:
        ends = frozenset(str(end) for end in (subject, object_) if isinstance(end, SparqlVariable))
        formula = self._path(self._term(subject, scope), predicate, self._term(object_, scope))
        return _Pattern((formula,), ends, ends)

    def _path(self, subject: Term, path: Any, object_: Term) -> Formula:
        match path:
            case URIRef():
                return Atom(self._entry(path), subject, object_)
            case InvPath():
                return self._path(object_, path.arg, subject)
            case SequencePath():
                stops = [subject, *(Variable(f"v#{next(self.fresh)}") for _ in path.args[1:]), object_]
                steps = zip(stops, path.args, stops[1:], strict=False)
                return And(tuple(self._path(start, step, end) for start, step, end in steps))
            case AlternativePath():
                return Or(tuple(self._path(subject, option, object_) for option in path.args))
            case MulPath():
                raise refusal(f"the property path '{path.mod}'")
            case NegatedPath():
                raise refusal("the property path '!'")
            case _:
                raise refusal(f"the variable ?{path} in place of a relation")

    def _term(self, term: Any, scope: _Scope) -> Term:
        match term:
            case SparqlVariable():
                return Variable(self._name(str(term), scope))
            case BNode():
                return Variable(self._name(f"_:{term}", scope))
            case Literal():
                raise refusal(
                    f'the literal "{term}"', f". If the entity of that name is meant, write :{local_of(str(term))}"
                )
            case _:
                return Constant(self._entry(term))

    def _entry(self, iri: Any) -> str:
        """The name in the graph; rdflib leaves the backslashes of `:a\\,b` in, and no IRI has one."""
        return name_of(str(iri).replace("\\", ""), self.namespace)

    def _name(self, name: str, scope: _Scope) -> str:
        return scope.meanings.setdefault(name, f"{name}#{next(self.fresh)}")


def _sides(node: Any) -> list[Any]:
    """The sides of a UNION of any number, or the pattern itself."""
    return [*_sides(node.p1), *_sides(node.p2)] if node.name == "Union" else [node]


def _conditions(expression: Any) -> Iterator[Any]:
    """The expressions that FILTERs of one group arrive in, joined by `&&`."""
    if getattr(expression, "name", None) == "ConditionalAndExpression":
        for part in (expression.expr, *expression.other):
            yield from _conditions(part)
    else:
        yield expression


def _deny(formula: Formula) -> Formula:
    return formula.part if isinstance(formula, Not) else Not(formula)


def _condition_name(expression: Any) -> str:
    name = getattr(expression, "name", None) or "an expression"
    known = {"RelationalExpression": "a comparison", "ConditionalOrExpression": "'||'", "UnaryNot": "'!'"}
    short = known.get(name) or name.removeprefix("Builtin_")
    return _REFUSED.get(name, f"FILTER with {short}")


def _names_in(pattern: _Pattern, scope: _Scope) -> set[str]:
    """The names, as written, of the variables that occur in a pattern, denied parts included."""
    used = variables(pattern.formula)
    return {name for name, meaning in scope.meanings.items() if meaning in used}


def _pretty(query: Query) -> Query:
    """Names without the scope's number where they are clear, else numbered: ?v, ?v_2."""
    terms = [query.answer, *(term for atom in atoms(query.formula) for term in (atom.subject, atom.object))]
    meanings = dict.fromkeys(term.name for term in terms if isinstance(term, Variable))
    taken: Counter[str] = Counter()
    names: dict[str, str] = {}
    for meaning in meanings:
        base = re.sub(r"\W", "_", _ANONYMOUS.sub("b", meaning.partition("#")[0]).removeprefix("_:"))
        name = base
        while taken[name]:
            taken[base] += 1
            name = f"{base}_{taken[base]}"
        taken[name] += 1
        names[meaning] = name
    return Query(Variable(names[query.answer.name]), map_variables(query.formula, names.__getitem__))


_TRIPLES = 50  # of a block that stays as it is


def in_pieces(parsed: Any) -> Any:
    """A parsed query whose long blocks are cut into short ones, which mean the same when joined.

    rdflib orders the triples of a block for evaluation, three times, each by sorting what is left once a triple: a
    thousand took five seconds, ten thousand minutes.
    """
    return traverse(parsed, visitPost=_shorten)


def _shorten(node: Any) -> Any:
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
