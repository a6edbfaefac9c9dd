"""Whether two queries ask the same: equal up to the names of variables, the order of branches and repeats."""

from __future__ import annotations

from pathformer.kg.vocab import Vocabulary
from pathformer.query.ast import Query
from pathformer.query.bind import bind, own_vocabulary
from pathformer.query.computation import canonical
from pathformer.query.tree import to_tree

__all__ = ["same"]


def same(first: Query, second: Query, vocabulary: Vocabulary | None = None) -> bool:
    """Whether the computation trees are equal; names are those of a vocabulary, else compared as they are written."""
    names = vocabulary or own_vocabulary(first, second)
    one, other = (canonical(to_tree(bind(query, names), names)) for query in (first, second))
    return one == other
