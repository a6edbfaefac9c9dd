"""Links that another statement gives away: where `won_by` says what `won` says, a fact of one is one of both.

A fit hides a held-out fact together with its restatements, so no mixture of evidence can learn what they are worth.
Their worth is measured instead: the share of a relation's facts that the other relation has as well.
"""

from __future__ import annotations

import numpy as np

from pathformer.kg.graph import Graph
from pathformer.kg.restatements import find_restatements
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.evidence._base import Fact, Ids, Piece, spell_fact

__all__ = ["Restated"]

_CERTAIN = 0.99  # a link that the graph does not state is never more certain


class Restated:
    """The relations of one graph that repeat each other, and what they say of its links."""

    name = "restatement"

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._by_relation: dict[int, list[tuple[int, float]]] = {}
        for one in find_restatements(graph.triples(), graph.entities, graph.relations):
            share = min(one.share, _CERTAIN)
            for relation, other in ((one.relation, one.restated_by), (one.relation ^ 1, one.restated_by ^ 1)):
                self._by_relation.setdefault(relation, []).append((other, share))

    def tails(self, head: int, relation: int) -> list[tuple[Ids, float]]:
        """Returns the tails that other statements give a head along a relation, each set with how far to trust it."""
        return [
            (self.graph.tails_of(head, other).astype(np.int64), share)
            for other, share in self._by_relation.get(relation, ())
        ]

    def pieces(self, head: int, relation: int, tail: int) -> tuple[Piece, ...]:
        """Returns the facts of the graph that say the same as a link."""
        return tuple(
            Piece(self.name, ((head, other, tail),), share, (share,))
            for other, share in self._by_relation.get(relation, ())
            if self.graph.has(head, other, tail)
        )

    def say(self, piece: Piece, link: Fact, vocabulary: Vocabulary) -> str:
        """Returns a piece as a sentence for people."""
        (fact,), (share,) = piece.facts, piece.detail
        stated, wanted = (spell_fact(one, vocabulary) for one in (fact, link))
        return f"the graph states {stated}; {100 * share:.0f} % of such facts are also stated as {wanted}"
