"""A conjunction as a tree: its variables are the nodes, its atoms with two variables the edges, walked from the root.

At every variable the branches meet in an intersection: what hangs on the variable alone, and one projection for every
edge to a variable farther from the root. An edge read against its direction uses the inverse relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from pathformer.errors import CyclicQueryError, FreeVariableError
from pathformer.query.ast import Atom, Formula, Variable
from pathformer.query.compile.rewrite import name_as_written
from pathformer.query.tree import Projection, Tree, intersect

__all__ = ["Conjunction"]

Place = int  # a part's number in the conjunction: branches keep the order in which they were written


@dataclass(slots=True)
class Conjunction:
    """The parts of a conjunction, gathered one by one; `tree` then joins them."""

    root: str
    spell: Callable[[Formula], str]
    hanging: dict[str, list[tuple[Place, Tree]]] = field(default_factory=lambda: defaultdict(list))
    edges: dict[str, list[tuple[Place, Atom, str]]] = field(default_factory=lambda: defaultdict(list))
    parts: dict[Place, tuple[Formula, str]] = field(default_factory=dict)
    leader: dict[str, str] = field(default_factory=dict)  # union-find over the variables that edges connect

    def hang(self, place: Place, variable: str, part: Formula, tree: Tree) -> None:
        """Add a part that restricts one variable."""
        self.parts[place] = (part, variable)
        self.hanging[variable].append((place, tree))

    def connect(self, place: Place, atom: Atom, first: str, second: str) -> None:
        """Add an atom between two variables; refuse it where they are connected already."""
        one, other = self._leader(first), self._leader(second)
        if one == other:
            raise CyclicQueryError(self._cycle(atom, first, second))
        self.leader[one] = other
        self.parts[place] = (atom, first)
        self.edges[first].append((place, atom, second))
        self.edges[second].append((place, atom, first))

    def tree(self) -> Tree:
        """The set of the root's values."""
        order, came_by = self._walk()
        sets: dict[str, Tree] = {}
        for variable in reversed(order):  # leaves first, without recursion: a chain may be long
            branches = list(self.hanging[variable])
            for place, atom, other in self.edges[variable]:
                if other in sets:
                    branches.append((place, _project(atom, sets[other], variable)))
            if not branches:
                raise FreeVariableError(self._free(variable, came_by[variable]))
            branches.sort(key=lambda branch: branch[0])
            sets[variable] = intersect(tuple(branch for _, branch in branches))
        return sets[self.root]

    def _walk(self) -> tuple[list[str], dict[str, Atom]]:
        """The variables from the root outwards, and the atom that led to each; all parts must be on the way."""
        order, came_by, seen = [self.root], {}, {self.root}
        for variable in order:
            for _, atom, other in self.edges[variable]:
                if other not in seen:
                    seen.add(other)
                    order.append(other)
                    came_by[other] = atom
        for _, (part, variable) in sorted(self.parts.items()):
            if variable not in seen:
                raise FreeVariableError(
                    f"{self.spell(part)} is not connected with ?{self.root}: "
                    f"add an atom that joins ?{variable} to it, or ask the two parts one by one"
                )
        return order, came_by

    def _leader(self, variable: str) -> str:
        while (above := self.leader.setdefault(variable, variable)) != variable:
            self.leader[variable] = self.leader.setdefault(above, above)  # halve the way for the next time
            variable = above
        return variable

    def _cycle(self, atom: Atom, first: str, second: str) -> str:
        if first == second:
            return (
                f"{self.spell(atom)} joins ?{first} to itself, which is a cycle. Only questions whose variables form a "
                f"tree can be answered: rename one of the two, or leave the atom out"
            )
        return (
            f"{self.spell(atom)} closes a cycle: ?{first} and ?{second} are already connected. Only questions whose "
            f"variables form a tree can be answered: leave out an atom of the cycle, or rename one of its variables"
        )

    def _free(self, variable: str, atom: Atom) -> str:
        return (
            f"nothing connects ?{variable} in {self.spell(atom)} to a known entity: add an atom that joins it "
            f"to one. A question cannot ask whether there is any ?{variable} at all"
        )


def _project(atom: Atom, of: Tree, variable: str) -> Tree:
    """The values of `variable` that an atom gives for the values of its other end."""
    relation = atom.relation
    assert isinstance(relation, int), "bind comes before to_tree"
    forward = atom.object == Variable(variable)
    return Projection(relation if forward else relation ^ 1, of, name_as_written(variable))
