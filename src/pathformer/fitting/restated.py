"""What a report says of relations that restate another: which they are, and what was held out because of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.restatements import count_overlaps

__all__ = ["RestatedRelation", "restated_relations"]


@dataclass(frozen=True, slots=True)
class RestatedRelation:
    """A relation that another one restates, or it itself in the other direction."""

    relation: str
    restated_by: str
    kind: str  # duplicate, inverse, symmetric, contained
    states: str  # what `restated_by` states, for people: the inverse of `relation`
    share: float  # of the facts of `restated_by`
    facts: int  # so many
    held_out: int  # facts that both state, both held out


def restated_relations(kg: KnowledgeGraph) -> tuple[RestatedRelation, ...]:
    """Returns the relations of a graph that another restates, those with the most facts first."""
    names = kg.vocabulary
    held_out = np.concatenate(list(kg.splits.values()))[len(kg.splits["train"]) :]
    both = count_overlaps(held_out, names.entity_count, names.relation_count)
    return tuple(
        RestatedRelation(
            names.relation(one.relation),
            names.relation(one.restated_by),
            one.kind,
            one.states(names),
            one.share,
            one.facts,
            both.get(one.overlap, 0),
        )
        for one in kg.restatements()
    )
