"""From formula to computation tree.

The set of values of one variable, the root, for which a formula holds, is

    f | g | ...                        the union of their sets, each of them once
    !f                                 the complement of its set
    r(a, ?x)  r(?x, a)                 the projection of {a} along r, or against it
    r(?v, ?x) & (the rest, of ?v)      the projection, along r, of the set of ?v
    f & g & ...                        the intersection, at every variable, of what hangs on it

A conjunction's variables must form a tree from the root: its atoms with two variables are the edges. A part that is no
atom hangs on the one variable that it shares with the rest; the other variables in it are its own (the scope rule: a
variable is quantified at the smallest part that holds all its occurrences). A part that shares several is rewritten
first (`rewrite`). Unions stay where they are written as far as that goes, so `up` prints back as `up`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pathformer.errors import CyclicQueryError, FreeVariableError, QuerySizeError, UnsafeQueryError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import (
    And,
    Atom,
    Constant,
    Formula,
    Not,
    Or,
    Query,
    Variable,
    all_of,
    check_depth,
    variables,
)
from pathformer.query.compile.rewrite import Rewriter, as_written, name_as_written, shared_variables
from pathformer.query.compile.safety import positive, unsafe_part
from pathformer.query.print import text_of, to_query, unbind
from pathformer.query.tree import Anchor, Negation, Projection, Tree, Union, depth, intersect, unite

__all__ = ["TREE_DEPTH_LIMIT", "check_length", "to_tree"]

TREE_DEPTH_LIMIT = 200  # operators on a way from an anchor to the answer: later stages recurse


def to_tree(query: Query, vocabulary: Vocabulary | None = None) -> Tree:
    """The computation tree of a bound query; the vocabulary, where given, is for the names in error messages.

    Raises CyclicQueryError, FreeVariableError, ScopeError, UnsafeQueryError or QuerySizeError, with the part at fault.
    """

    def spell(formula: Formula) -> str:
        written = as_written(formula)
        return text_of(written if vocabulary is None else unbind(Query(query.answer, written), vocabulary).formula)

    check_depth(query.formula)
    answer = query.answer.name
    tree = _Compiler(spell, Rewriter.of(spell)).compile(query.formula, answer)
    check_length(tree)
    tree = positive(tree)
    if (part := unsafe_part(tree)) is not None:
        raise UnsafeQueryError(
            f"{spell(to_query(part, keep_names=True).formula)} only says what ?{answer} is not: the answer would be "
            f"nearly every entity of the graph. Say what ?{answer} is, too, as in r(a, ?{answer}) & !s(b, ?{answer})"
        )
    return tree


def check_length(tree: Tree) -> None:
    """Refuse a tree that is deeper than those which later stages walk."""
    if (levels := depth(tree)) > TREE_DEPTH_LIMIT:
        raise QuerySizeError(
            f"the longest path has {levels - 1:,} operators; the limit is {TREE_DEPTH_LIMIT}: ask for a shorter one"
        )


@dataclass(frozen=True, slots=True)
class _Compiler:
    spell: Callable[[Formula], str]
    rewriter: Rewriter

    def compile(self, formula: Formula, root: str) -> Tree:
        """The values of `root` for which the formula holds; its other variables are its own."""
        match formula:
            case Or(parts):
                return _once(unite(tuple(self.compile(part, root) for part in parts)))
            case Not(part):
                return Negation(self.compile(part, root))
            case And() | Atom():
                options = self.rewriter.alternatives([formula], frozenset({root}))
                return unite(tuple(self._conjunction(parts, root) for parts in options))

    def _conjunction(self, parts: Sequence[Formula], root: str) -> Tree:
        if not any(root in variables(part) for part in parts):
            raise FreeVariableError(
                f"?{root} does not occur in {self.spell(all_of(parts))}: the question itself, each side of an 'or' and "
                f"each part under 'not' must mention it"
            )
        joined = _Conjunction(root, self.spell)
        for position, (part, shared) in enumerate(shared_variables(parts, frozenset({root}))):
            if isinstance(part, Atom):
                self._add_atom(joined, position, part)
            elif not shared:
                raise FreeVariableError(
                    f"{self.spell(part)} shares no variable with the rest, so it does not restrict ?{root}: "
                    "leave it out"
                )
            else:
                (variable,) = shared
                joined.hang(position, variable, part, self.compile(part, variable))
        return joined.tree()

    def _add_atom(self, joined: _Conjunction, position: int, atom: Atom) -> None:
        match atom:
            case Atom(_, Variable(first), Variable(second)):
                joined.connect(position, atom, first, second)
            case Atom(int(relation), Constant(int(entity)), Variable(name)):
                joined.hang(position, name, atom, Projection(relation, Anchor(entity), name_as_written(name)))
            case Atom(int(relation), Variable(name), Constant(int(entity))):
                joined.hang(position, name, atom, Projection(relation ^ 1, Anchor(entity), name_as_written(name)))
            case Atom(_, Constant(), Constant()):
                raise FreeVariableError(
                    f"{self.spell(atom)} has no variable, so it does not restrict the answer: leave it out"
                )
            case _:
                raise TypeError("to_tree takes a bound query: bind it to a vocabulary first")


def _once(tree: Tree) -> Tree:
    """A union without branches that stand in it before: an engine would measure it as a question of another shape."""
    return unite(tuple(dict.fromkeys(tree.branches))) if isinstance(tree, Union) else tree


Position = int  # a part's number in the conjunction: branches keep the order in which they were written


@dataclass(slots=True)
class _Conjunction:
    """The parts of a conjunction, gathered one by one; `tree` then joins them."""

    root: str
    spell: Callable[[Formula], str]
    hanging: dict[str, list[tuple[Position, Tree]]] = field(default_factory=lambda: defaultdict(list))
    edges: dict[str, list[tuple[Position, Atom, str]]] = field(default_factory=lambda: defaultdict(list))
    parts: dict[Position, tuple[Formula, str]] = field(default_factory=dict)
    leader: dict[str, str] = field(default_factory=dict)  # union-find over the variables that edges connect

    def hang(self, position: Position, variable: str, part: Formula, tree: Tree) -> None:
        """Add a part that restricts one variable."""
        self.parts[position] = (part, variable)
        self.hanging[variable].append((position, tree))

    def connect(self, position: Position, atom: Atom, first: str, second: str) -> None:
        """Add an atom between two variables; refuse it where they are connected already."""
        one, other = self._leader(first), self._leader(second)
        if one == other:
            raise CyclicQueryError(self._cycle(atom, first, second))
        self.leader[one] = other
        self.parts[position] = (atom, first)
        self.edges[first].append((position, atom, second))
        self.edges[second].append((position, atom, first))

    def tree(self) -> Tree:
        """The set of the root's values."""
        order, came_by = self._walk()
        sets: dict[str, Tree] = {}
        for variable in reversed(order):  # leaves first, without recursion: a chain may be long
            branches = list(self.hanging[variable])
            for position, atom, other in self.edges[variable]:
                if other in sets:
                    branches.append((position, _project(atom, sets[other], variable)))
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
