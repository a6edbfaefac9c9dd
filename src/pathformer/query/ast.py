"""What is asked: the query as written, a frozen tree of formulas.

A query has one free variable, its answer; every other variable is existential, quantified at the smallest
sub-formula that holds all its occurrences (`design`: scope). Names are strings as parsed and integers once bound
(`bind`): an entity's id, and for a relation the even id 2k of its forward direction. An atom is always written
subject first, so a relation read backwards needs no mark of its own here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["And", "Atom", "Constant", "Formula", "Not", "Or", "Query", "Term", "Variable", "atoms", "variables"]


@dataclass(frozen=True, slots=True)
class Variable:
    """`?name`; the question mark is not part of the name."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """An entity, by name or, once bound, by id."""

    name: str | int


@dataclass(frozen=True, slots=True)
class Atom:
    """`relation(subject, object)`."""

    relation: str | int
    subject: Term
    object: Term


@dataclass(frozen=True, slots=True)
class And:
    """Two or more parts, all true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more parts, at least one true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false."""

    part: Formula


@dataclass(frozen=True, slots=True)
class Query:
    """`?answer : formula`."""

    answer: Variable
    formula: Formula


Term = Variable | Constant
Formula = Atom | And | Or | Not


def atoms(formula: Formula) -> Iterator[Atom]:
    """Every atom of a formula, left to right."""
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
