"""Questions that a graph can be asked, for whoever has never asked it one."""

from __future__ import annotations

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.ast import Atom, Constant, Query, Variable
from pathformer.query.parse import write

__all__ = ["example_questions"]


def example_questions(kg: KnowledgeGraph) -> tuple[str, str]:
    """Two questions about a triple of the graph, one in each direction."""
    names, answer = kg.vocabulary, Variable("x")
    head, relation, tail = map(int, kg.splits["train"][0])
    atoms = (
        Atom(names.relation(relation), Constant(names.entity(head)), answer),
        Atom(names.relation(relation), answer, Constant(names.entity(tail))),
    )
    first, second = (write(Query(answer, atom)) for atom in atoms)
    return first, second
