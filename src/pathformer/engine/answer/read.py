"""Whatever is asked, as one computation tree over a graph's ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pathformer.errors import InputError
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.ast import Query, Request
from pathformer.query.compile.bind import bind
from pathformer.query.compile.to_tree import to_tree
from pathformer.query.naming import Naming
from pathformer.query.parse import request, write
from pathformer.query.print import to_query, unbind
from pathformer.query.syntax import betae
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree, Union

__all__ = ["Asked", "Question", "read_question"]

Question = str | tuple[Any, ...] | Query | Tree


@dataclass(frozen=True, eq=False, slots=True)
class Asked:
    """A question that can be answered."""

    text: str  # as given, or written as a formula
    query: Query  # bound
    tree: Tree
    limit: int | None = None  # SPARQL's

    @property
    def answer(self) -> str:
        """The answer's variable, without its question mark."""
        return self.query.answer.name


def read_question(question: Question, kg: KnowledgeGraph) -> Asked:
    """Read a formula, SPARQL, a nested tuple of ids (as text or Python's own), a query or a computation tree."""
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
                f"a value of type {type(question).__name__} is no question: "
                "expected text, a tuple of ids, a Query or a tree"
            )
    bound = bind(asked.query, kg.vocabulary)
    tree = to_tree(bound, kg.vocabulary)
    text = question.strip() if isinstance(question, str) else write(unbind(bound, kg.vocabulary))
    return Asked(text, bound, tree, asked.limit)
