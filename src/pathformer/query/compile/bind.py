"""Names to ids: `bind`; `print.unbind` goes back.

A vocabulary looks a name up exactly, then case-folded, then by label, then by the end of an IRI, and answers an unknown
one with the closest. A relation written by its inverse's own name (odd id) swaps subject and object, so a bound atom is
always forward.
"""

from __future__ import annotations

from functools import cache, partial

from pathformer.errors import UnknownIdError
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.ast import Atom, Constant, Query, Term, atoms, check_depth, map_atoms

__all__ = ["bind", "own_vocabulary"]


def bind(query: Query, vocabulary: Vocabulary) -> Query:
    """The query with ids in place of names; ids that are there already must be ones of the vocabulary."""

    term, relation_of = cache(partial(_term, vocabulary)), cache(partial(_relation, vocabulary))

    def change(atom: Atom) -> Atom:
        relation = relation_of(atom.relation)
        subject, object_ = term(atom.subject), term(atom.object)
        return Atom(relation - 1, object_, subject) if relation % 2 else Atom(relation, subject, object_)

    check_depth(query.formula)
    return Query(query.answer, map_atoms(query.formula, change))


def own_vocabulary(*queries: Query) -> Vocabulary:
    """A vocabulary of the names that the queries themselves use, in order: to look at a query without a graph."""
    found = [atom for query in queries for atom in atoms(query.formula)]
    terms = [term for atom in found for term in (atom.subject, atom.object)]
    entities = dict.fromkeys(str(term.name) for term in terms if isinstance(term, Constant))
    relations = dict.fromkeys(str(atom.relation) for atom in found)
    return Vocabulary.of(entities, relations)


def _term(vocabulary: Vocabulary, term: Term) -> Term:
    if not isinstance(term, Constant):
        return term
    if isinstance(term.name, str):
        return Constant(vocabulary.entity_id(term.name))
    if not 0 <= term.name < vocabulary.entity_count:
        raise UnknownIdError("entity", term.name, vocabulary.entity_count)
    return term


def _relation(vocabulary: Vocabulary, relation: str | int) -> int:
    if isinstance(relation, str):
        return vocabulary.relation_id(relation)
    if not 0 <= relation < vocabulary.relation_count:
        raise UnknownIdError("relation", relation, vocabulary.relation_count)
    return relation
