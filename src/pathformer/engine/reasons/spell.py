"""A part of a tree as people read it: a formula in labels (names where one is shared) and the question's variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import Atom, Constant, Term, Variable, map_atoms
from pathformer.query.compile.variables import Place, fresh_names, variable_places
from pathformer.query.print import to_query
from pathformer.query.syntax.formula import text_of
from pathformer.query.tree import Tree

__all__ = ["Speller"]


@dataclass(frozen=True, eq=False, slots=True)
class Speller:
    """What the names of a question and of its graph are."""

    vocabulary: Vocabulary
    answer: str
    variables: Mapping[Place, str]  # as `variable_names` gives them

    def spell(self, tree: Tree, place: Place, of: int | None = None) -> str:
        """What the part at a place says of its variable, or of the entity `of` in its stead."""
        own = self._own(place)
        names = dict(zip(fresh_names(own), (self.variables[p] for p in variable_places(tree, place)), strict=False))
        query = to_query(tree, answer=own)

        def term(given: Term) -> Term:
            if not isinstance(given, Variable):
                return Constant(self.vocabulary.distinct_label(int(given.name)))
            if given == query.answer:
                return given if of is None else Constant(self.vocabulary.distinct_label(of))
            return Variable(names[given.name])

        def change(atom: Atom) -> Atom:
            return Atom(self.vocabulary.short_relation_label(int(atom.relation)), term(atom.subject), term(atom.object))

        return text_of(map_atoms(query.formula, change))

    def _own(self, place: Place) -> str:
        """The variable whose values the node at a place gives: that of the nearest node above which has one."""
        for length in range(len(place), 0, -1):
            if place[:length] in self.variables:
                return self.variables[place[:length]]
        return self.answer
