"""The best assignment behind an answer: what every variable is bound to, and the links that follow. It is the reason.

From the answer back to the anchors: below a projection the variable is bound to the u of the maximum, below an
intersection all branches are followed, below a union the fewest strongest branches that give its belief.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pathformer.links.table import LinkTable
from pathformer.query.tree import Anchor, Intersection, Negation, NodeId, Projection, Union
from pathformer.search.norms import Norm
from pathformer.search.propagate import Beliefs

__all__ = ["Assignment", "Denial", "Link", "trace"]

_SAME = 1e-5  # relative difference of two float32 sums of the same beliefs


@dataclass(frozen=True, slots=True)
class Link:
    """A link that an assignment rests on."""

    head: int
    relation: int  # directed
    tail: int
    probability: float  # that it holds; of a denied link, that it does not
    known: bool  # whether the link is a fact
    denied: bool = False  # whether the query denies it


@dataclass(frozen=True, slots=True)
class Denial:
    """A negated part of the query, and the belief that it does not hold of an entity."""

    node: NodeId  # of the negation
    entity: int
    belief: float


@dataclass(frozen=True, slots=True)
class Assignment:
    """The best assignment of an answer; variables inside negated parts are not bound."""

    belief: float  # the score of the answer
    bindings: Mapping[NodeId, int] = field(default_factory=dict)  # the node of a variable -> its entity
    links: tuple[Link, ...] = ()  # from the anchors to the answer
    denials: tuple[Denial, ...] = ()


def trace(
    beliefs: Beliefs, table: LinkTable, join: type[Norm], question: int, entity: int, node: NodeId = ()
) -> Assignment | None:
    """Returns the best assignment of an entity that answers a question; None if its score is 0.

    beliefs: of the root, traced; node: the node of the tree that they belong to.
    """
    belief = float(beliefs.values[question, entity])
    if belief <= 0:
        return None
    match beliefs.trees[question]:
        case Anchor():
            return Assignment(belief)
        case Projection(relation):
            return _trace_hop(beliefs, table, join, question, entity, relation, (*node, 0))
        case Negation(Projection(relation)) if beliefs.hop is not None:
            return _trace_hop(beliefs, table, join, question, entity, relation, (*node, 0, 0), denied=True)
        case Negation():
            return Assignment(belief, denials=(Denial(node, entity, belief),))
        case Intersection(branches):
            chosen = list(range(len(branches)))
        case Union():
            chosen = _needed([float(part.values[question, entity]) for part in beliefs.below], belief, join)
    parts = [trace(beliefs.below[n], table, join, question, entity, (*node, n)) for n in chosen]
    return _merge(belief, [part for part in parts if part is not None])


def _trace_hop(
    beliefs: Beliefs,
    table: LinkTable,
    join: type[Norm],
    question: int,
    entity: int,
    relation: int,
    below: NodeId,
    *,
    denied: bool = False,
) -> Assignment:
    """Binds the variable at the node `below` to the head that gave the belief, and goes on from there."""
    assert beliefs.hop is not None
    assert beliefs.hop.via is not None, "the beliefs were not traced"
    head, probability = int(beliefs.hop.via[question, entity]), float(beliefs.hop.link[question, entity])
    belief = float(beliefs.values[question, entity])
    link = Link(head, relation, entity, probability, table.facts.has(head, relation, entity), denied)
    rest = [trace(part, table, join, question, head, below) for part in beliefs.below]
    bound = [Assignment(belief, {below: head})] if rest else []
    return _merge(belief, [*bound, *(part for part in rest if part is not None), Assignment(belief, links=(link,))])


def _needed(values: list[float], belief: float, join: type[Norm]) -> list[int]:
    """Returns the fewest branches, strongest first, whose union has the belief."""
    order = sorted(range(len(values)), key=lambda number: -values[number])
    total = 0.0
    for count, number in enumerate(order, 1):
        total = float(join.either(np, total, values[number]))
        if total >= belief * (1 - _SAME):
            return sorted(order[:count])
    return sorted(order)


def _merge(belief: float, parts: list[Assignment]) -> Assignment:
    bindings: dict[NodeId, int] = {}
    for part in parts:
        bindings |= part.bindings
    links = tuple(link for part in parts for link in part.links)
    return Assignment(belief, bindings, links, tuple(denial for part in parts for denial in part.denials))
