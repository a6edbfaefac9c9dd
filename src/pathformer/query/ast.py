"""The query as written: a frozen tree of formulas.

A query has one free variable, its answer; every other variable is existential, quantified at the smallest
sub-formula that holds all its occurrences (`design`: scope). Names are strings as parsed and integers once bound
(`bind`): an entity's id, and for a relation the even id 2k of its forward direction. An atom is always written
subject first, so a relation read backwards needs no mark of its own here.

A request is a query with what a syntax may say beside it, such as SPARQL's LIMIT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral

from pathformer.errors import QueryError, QuerySizeError

__all__ = [
    "DEPTH_LIMIT",
    "And",
    "Atom",
    "Constant",
    "Formula",
    "Not",
    "Or",
    "Query",
    "Request",
    "Term",
    "Variable",
    "all_of",
    "any_of",
    "atoms",
    "check_depth",
    "conjuncts",
    "map_atoms",
    "map_variables",
    "variables",
]

DEPTH_LIMIT = 100  # nested and, or, not: every later stage may recurse without running out of stack


@dataclass(frozen=True, slots=True)
class Variable:
    """`?name`; the question mark is not part of the name."""

    name: str

    def __post_init__(self) -> None:
        _check(isinstance(self.name, str), "a Variable has a name, which is text", self.name)


@dataclass(frozen=True, slots=True)
class Constant:
    """An entity, by name or, once bound, by id."""

    name: str | int

    def __post_init__(self) -> None:
        _check(_is_name(self.name), "a Constant has a name or an id", self.name)


@dataclass(frozen=True, slots=True)
class Atom:
    """`relation(subject, object)`."""

    relation: str | int
    subject: Term
    object: Term

    def __post_init__(self) -> None:
        _check(_is_name(self.relation), "the relation of an Atom is a name or an id", self.relation)
        for term in (self.subject, self.object):
            _check(isinstance(term, Variable | Constant), "an Atom joins a Variable or a Constant to another", term)


@dataclass(frozen=True, slots=True)
class And:
    """Two or more parts, all true."""

    parts: tuple[Formula, ...]

    def __post_init__(self) -> None:
        _check_parts("And", self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more parts, at least one true."""

    parts: tuple[Formula, ...]

    def __post_init__(self) -> None:
        _check_parts("Or", self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false."""

    part: Formula

    def __post_init__(self) -> None:
        _check(isinstance(self.part, _FORMULAS), "a Not stands before a formula", self.part)


@dataclass(frozen=True, slots=True)
class Query:
    """`?answer : formula`."""

    answer: Variable
    formula: Formula

    def __post_init__(self) -> None:
        _check(isinstance(self.answer, Variable), "the answer of a Query is a Variable", self.answer)
        _check(isinstance(self.formula, _FORMULAS), "a Query holds a formula", self.formula)


Term = Variable | Constant
Formula = Atom | And | Or | Not
_FORMULAS = (Atom, And, Or, Not)


def _is_name(given: object) -> bool:
    return isinstance(given, str | Integral) and not isinstance(given, bool)


def _check(right: bool, rule: str, given: object) -> None:
    if not right:
        told = "None" if given is None else "()" if given == () else f"a {type(given).__name__}"
        raise QueryError(f"{rule}, not {told}")


def _check_parts(kind: str, given: object) -> None:
    right = isinstance(given, tuple) and len(given) > 0 and all(isinstance(part, _FORMULAS) for part in given)
    _check(right, f"the parts of {kind} are a tuple of formulas, and not an empty one", given)


def all_of(parts: Sequence[Formula]) -> Formula:
    """Joins parts by 'and'; a single part stays as it is."""
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def any_of(parts: Sequence[Formula]) -> Formula:
    """Joins parts by 'or'; a single part stays as it is."""
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def atoms(formula: Formula) -> Iterator[Atom]:
    """Yields every atom of a formula, left to right."""
    match formula:
        case Atom():
            yield formula
        case Not(part):
            yield from atoms(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from atoms(part)


def variables(formula: Formula) -> frozenset[str]:
    """The names of all variables that occur in a formula."""
    return frozenset(t.name for a in atoms(formula) for t in (a.subject, a.object) if isinstance(t, Variable))


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """The parts of a conjunction, those of conjunctions in it and behind double negations too."""
    match formula:
        case And(parts):
            for part in parts:
                yield from conjuncts(part)
        case Not(Not(part)):
            yield from conjuncts(part)
        case _:
            yield formula


def map_atoms(formula: Formula, change: Callable[[Atom], Atom]) -> Formula:
    """Replaces every atom of a formula by `change(atom)`."""
    match formula:
        case Atom():
            return change(formula)
        case Not(part):
            return Not(map_atoms(part, change))
        case And(parts):
            return And(tuple(map_atoms(part, change) for part in parts))
        case Or(parts):
            return Or(tuple(map_atoms(part, change) for part in parts))


def map_variables(formula: Formula, change: Callable[[str], str]) -> Formula:
    """Renames every variable of a formula to `change(name)`."""

    def term(old: Term) -> Term:
        return Variable(change(old.name)) if isinstance(old, Variable) else old

    return map_atoms(formula, lambda atom: Atom(atom.relation, term(atom.subject), term(atom.object)))


def check_depth(formula: Formula, limit: int = DEPTH_LIMIT) -> None:
    """Refuses a formula that nests deeper than `limit`; flat ones may have any number of parts."""
    level, depth = [formula], 0
    while level:
        depth += 1
        level = [part for node in level for part in _parts(node)]
    if depth > limit:
        raise QuerySizeError(
            f"the formula has {depth:,} nested levels of and, or, not; the limit is {limit}: ask for its parts"
        )


def _parts(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case Atom():
            return ()
        case Not(part):
            return (part,)
        case And(parts) | Or(parts):
            return parts


@dataclass(frozen=True, slots=True)
class Request:
    """A query, with SPARQL's LIMIT and DISTINCT, which belong to asking; answers are sets whether or not it is said."""

    query: Query
    limit: int | None = None
    distinct: bool = False
