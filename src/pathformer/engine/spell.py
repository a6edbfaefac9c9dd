"""A part of a tree as people read it: a formula in labels."""

from __future__ import annotations

from pathformer.kg.vocab import Vocabulary
from pathformer.query.ast import Atom, Constant, Term, Variable, map_atoms
from pathformer.query.computation import Tree
from pathformer.query.from_tree import to_query
from pathformer.query.syntax.formula import text_of

__all__ = ["spell"]


def spell(tree: Tree, vocabulary: Vocabulary, of: int | None = None) -> str:
    """What the tree says of `?x`, or of the entity `of`."""
    query = to_query(tree)

    def term(given: Term) -> Term:
        if isinstance(given, Variable):
            return Constant(vocabulary.label(of)) if of is not None and given == query.answer else given
        return Constant(vocabulary.label(int(given.name)))

    def change(atom: Atom) -> Atom:
        return Atom(vocabulary.relation_label(int(atom.relation)), term(atom.subject), term(atom.object))

    return text_of(map_atoms(query.formula, change))
