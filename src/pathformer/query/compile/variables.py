"""What the nodes of a computation tree were called in the query that it was made from.

A tree holds no names: a variable is the node below a projection. Written back as a formula (`to_query`) it has fresh
ones, and a map from those to the query's own, under which every atom of the tree is an atom of the query, gives the
names back. Where the way to the tree changed too much for such a map, the fresh names stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count

from pathformer.query.ast import Atom, Query, Term, Variable, atoms
from pathformer.query.print import to_query
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

__all__ = ["Place", "fresh_names", "variable_names", "variable_places"]

Place = tuple[int, ...]  # of a node: which child to take at each step from the root

_TRIES = 10_000  # steps of the search for a map; a query has a handful of variables


def variable_names(tree: Tree, query: Query) -> dict[Place, str]:
    """The name of every variable but the answer, by the place of its node."""
    written = to_query(tree, answer=query.answer.name)
    names = _match(list(atoms(written.formula)), list(atoms(query.formula)), query.answer.name)
    named = zip(variable_places(tree), fresh_names(query.answer.name), strict=False)
    return {place: names.get(name, name) for place, name in named}


def fresh_names(answer: str) -> Iterator[str]:
    """The names that `to_query` gives to variables, one after the other, where the answer has this one."""
    return (name for number in count(1) if (name := f"v{number}") != answer)


def variable_places(tree: Tree, place: Place = ()) -> Iterator[Place]:
    """The nodes that are variables, in the order in which `to_query` names them."""
    match tree:
        case Projection(_, Anchor()) | Anchor():
            return
        case Projection(_, of):
            yield (*place, 0)
            yield from variable_places(of, (*place, 0))
        case Negation(of):
            yield from variable_places(of, (*place, 0))
        case Intersection(branches) | Union(branches):
            for number, branch in enumerate(branches):
                yield from variable_places(branch, (*place, number))


def _match(wanted: list[Atom], given: list[Atom], answer: str) -> Mapping[str, str]:
    """A map of names that takes every wanted atom to a given one, the answer to itself; empty where there is none.

    One wanted atom after the other takes what fits, and gives it back where no way on is found. Without recursion: a
    question may be a conjunction of thousands of atoms.
    """
    alike = defaultdict(list)
    for atom in given:
        alike[atom.relation].append(atom)
    names = {answer: answer}
    taken: list[dict[str, str]] = []  # what each wanted atom up to here has added to the names
    untried: list[Iterator[dict[str, str]]] = [_options(wanted[0], alike[wanted[0].relation], names)]
    for _ in range(_TRIES):
        while (option := next(untried[-1], None)) is None:
            untried.pop()
            if not untried:
                return {}
            for name in taken.pop():
                del names[name]
        names |= option
        taken.append(option)
        if len(taken) == len(wanted):
            return names
        atom = wanted[len(taken)]
        untried.append(_options(atom, alike[atom.relation], names))
    return {}


def _options(wanted: Atom, given: list[Atom], names: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """What may be added to the names so that the atom becomes a given one; names that no other has yet come first."""
    used = set(names.values())
    later = []
    for atom in given:
        if (added := _unify(wanted, atom, names)) is None:
            continue
        if used.isdisjoint(added.values()):
            yield added
        else:
            later.append(added)
    yield from sorted(later, key=lambda added: len(used.intersection(added.values())))


def _unify(wanted: Atom, given: Atom, names: Mapping[str, str]) -> dict[str, str] | None:
    """What is to be added to the names so that one atom becomes the other; None where nothing helps."""
    added: dict[str, str] = {}
    pairs: tuple[tuple[Term, Term], ...] = ((wanted.subject, given.subject), (wanted.object, given.object))
    for one, other in pairs:
        if isinstance(one, Variable) and isinstance(other, Variable):
            if (names.get(one.name) or added.setdefault(one.name, other.name)) != other.name:
                return None
        elif one != other:
            return None
    return added
