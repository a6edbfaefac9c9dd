"""Which entities an answer is not ranked against.

    reference   all easy and hard answers of the query. Easy answers of a negation query hold entities that stop being
                answers on the larger graph (a new edge lets the negated branch reach them); the reference code leaves
                those out of the ranking too. The default, since published figures are made so.
    strict      the answers on the larger graph only, as the paper's text says (ranked "against non-answer entities").
                The vanished answers come back as wrong entities that the hard answers have to beat. Needs the larger
                graph, since easy and hard answers alone do not tell which easy ones vanish.

Without a negation nothing vanishes and both are the same.
"""

from __future__ import annotations

from pathformer.evaluation.ranks import Filters
from pathformer.kg.graph import Graph
from pathformer.symbolic.answer import answer_rows
from pathformer.symbolic.pairs import GraphPair
from pathformer.symbolic.queries import Queries

__all__ = ["reference_filter", "strict_filter"]


def reference_filter(queries: Queries) -> Filters:
    """All easy and hard answers of every query."""
    return queries.easy, queries.hard


def strict_filter(queries: Queries, larger: Graph) -> Filters:
    """The answers of every query on the larger graph (train and valid edges for validation, all edges for test)."""
    if not queries.structure.negated:
        return reference_filter(queries)
    return answer_rows(queries.structure, queries.ids, GraphPair.of(larger))
