"""From computation tree back to formula, with fresh variables: `?x` the answer, `?v1`, `?v2`, ... on the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from pathformer.errors import UnsupportedQueryError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import Atom, Constant, Formula, Not, Or, Query, Term, Variable, all_of
from pathformer.query.compile.bind import unbind
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

__all__ = ["to_query"]


def to_query(tree: Tree, vocabulary: Vocabulary | None = None, answer: str = "x") -> Query:
    """A query whose tree this is, with the names of a vocabulary or, without one, with ids."""
    variable = Variable(answer)
    fresh = (Variable(f"v{number}") for number in count(1) if f"v{number}" != answer)
    query = Query(variable, all_of(_parts(tree, variable, fresh)))
    return query if vocabulary is None else unbind(query, vocabulary)


def _parts(tree: Tree, at: Variable, fresh: Iterator[Variable]) -> list[Formula]:
    """What must hold for `at` to be in the set; parts of one conjunction."""
    match tree:
        case Projection(relation, Anchor(entity)):
            return [_atom(relation, Constant(entity), at)]
        case Projection(relation, of):
            via = next(fresh)
            return [*_parts(of, via, fresh), _atom(relation, via, at)]
        case Negation(of):
            return [Not(all_of(_parts(of, at, fresh)))]
        case Intersection(branches):
            return [part for branch in branches for part in _parts(branch, at, fresh)]
        case Union(branches):
            return [Or(tuple(all_of(_parts(branch, at, fresh)) for branch in branches))]
        case Anchor(entity):
            raise UnsupportedQueryError(f"a formula cannot say that ?{at.name} is entity {entity} itself")


def _atom(relation: int, source: Term, target: Term) -> Atom:
    """The atom of a projection: a directed relation that is an inverse is written with its forward name."""
    return Atom(relation, source, target) if relation % 2 == 0 else Atom(relation - 1, target, source)
