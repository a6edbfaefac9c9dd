"""Reads a question in any form into one computation tree over a graph's ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pathformer.errors import InputError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.ast import Query, Request
from pathformer.query.compile.bind import bind
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.iris import Naming
from pathformer.query.parse import request, write
from pathformer.query.print import to_query, unbind
from pathformer.query.syntax import betae
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

__all__ = ["Asked", "Question", "read_question"]

Question = str | tuple[Any, ...] | Query | Tree


@dataclass(frozen=True, eq=False, slots=True)
class Asked:
    """A question that was read and can be answered."""

    text: str  # as given; of a question that was no text, its formula
    query: Query  # with ids in place of names
    tree: Tree
    limit: int | None = None  # of a SPARQL query

    @property
    def answer(self) -> str:
        """The name of the answer's variable, without the question mark."""
        return self.query.answer.name


def read_question(question: Question, kg: KnowledgeGraph) -> Asked:
    """Reads a formula, SPARQL, a nested tuple of ids (text or a Python tuple), a query or a computation tree."""
    naming = Naming.of(kg)
    match question:
        case str():
            asked = request(question, naming=naming)
        case tuple():
            asked = Request(betae.parse_ids(question, kg.vocabulary))
        case Query():
            asked = Request(question)
        case Anchor() | Projection() | Intersection() | Union() | Negation():
            asked = Request(to_query(question))
        case _:
            raise InputError(
                "a question must be text, a tuple of ids, a Query or a tree, "
                f"got a value of type {type(question).__name__}"
            )
    bound = bind(asked.query, kg.vocabulary)
    tree = to_tree(bound, kg.vocabulary)
    text = question.strip() if isinstance(question, str) else write(unbind(bound, kg.vocabulary))
    return Asked(text, bound, tree, asked.limit)
