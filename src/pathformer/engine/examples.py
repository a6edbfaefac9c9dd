"""Questions that a graph can be asked, for whoever has never asked it one."""

from __future__ import annotations

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.ast import Atom, Constant, Query, Variable
from pathformer.query.parse import write

__all__ = ["example_questions"]


_LOOKED_AT, _LONG = 100, 80  # triples of which the first is taken whose names together have at most so many letters


def example_questions(kg: KnowledgeGraph) -> tuple[str, str]:
    """Two questions about a triple of the graph, one in each direction."""
    names, answer = kg.vocabulary, Variable("x")
    rows: list[list[int]] = kg.splits["train"][:_LOOKED_AT].tolist()
    head, relation, tail = next((row for row in rows if _length(row, kg) <= _LONG), rows[0])
    atoms = (
        Atom(names.relation(relation), Constant(names.entity(head)), answer),
        Atom(names.relation(relation), answer, Constant(names.entity(tail))),
    )
    first, second = (write(Query(answer, atom)) for atom in atoms)
    return first, second


def _length(row: list[int], kg: KnowledgeGraph) -> int:
    head, relation, tail = row
    return sum(map(len, (kg.vocabulary.entity(head), kg.vocabulary.relation(relation), kg.vocabulary.entity(tail))))
