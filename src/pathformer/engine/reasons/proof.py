"""Reasons in ids: the entity that each variable of a tree stands for, and the links that follow from that.

`prove` finds the reason of a known answer by walking back from it through exact sets; `in_names` makes it readable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pathformer.engine.find.exact_sets import ExactSets
from pathformer.engine.reasons.why import Evidence, Link, Named, Why
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.print import spell
from pathformer.query.tree import Anchor, Intersection, Negation, NodeId, Projection, Tree, Union, node_at, variable_of

__all__ = ["Reason", "Step", "in_names", "prove"]

Denied = tuple[Tree, int]  # the part that a negation denies, and the entity it denies it of


@dataclass(frozen=True, slots=True)
class Step:
    """A link along a directed relation."""

    head: int
    relation: int
    tail: int
    rank: int | None = None  # of an assumed link; None for a link of the graph
    probability: float | None = None  # of an assumed link, where it was searched


@dataclass(frozen=True, slots=True)
class Reason:
    """A binding of a tree's variables, its links, and its negated parts, each with an entity.

    The negated parts that the graph does not state are absent, the others contrary.
    """

    bindings: Mapping[NodeId, int] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    absent: tuple[Denied, ...] = ()
    contrary: tuple[Denied, ...] = ()

    def __add__(self, other: Reason) -> Reason:
        return Reason(
            {**self.bindings, **other.bindings},
            self.steps + other.steps,
            self.absent + other.absent,
            self.contrary + other.contrary,
        )


def prove(tree: Tree, entity: int, sets: ExactSets, node: NodeId = ()) -> Reason:
    """Returns one reason for a known answer: an entity that is in the set of the tree."""
    match tree:
        case Anchor():
            return Reason()
        case Projection(relation, Anchor(start)):
            return Reason(steps=(Step(start, relation, entity),))
        case Projection(relation, of):
            sources = sets.graph.tails_of(entity, relation ^ 1)
            source = int(sources[sets.contains(of, sources)][0])
            below = (*node, 0)
            return (
                Reason({below: source})
                + prove(of, source, sets, below)
                + Reason(steps=(Step(source, relation, entity),))
            )
        case Negation(of):
            return Reason(absent=((of, entity),))
        case Intersection(branches):
            reason = Reason()
            for number, branch in enumerate(branches):
                reason += prove(branch, entity, sets, (*node, number))
            return reason
        case Union(branches):
            one = np.array([entity])
            number = next(n for n, branch in enumerate(branches) if sets.contains(branch, one)[0])
            return prove(branches[number], entity, sets, (*node, number))


def in_names(reason: Reason, tree: Tree, vocabulary: Vocabulary, evidence: tuple[Evidence, ...] | None = None) -> Why:
    """Returns a reason for an answer of the tree in names; evidence: for the assumed links."""

    def entity(id: int) -> Named:
        label = vocabulary.label(id)
        return Named(vocabulary.entity(id), label, label != vocabulary.distinct_label(id))

    def relation(id: int) -> Named:
        return Named(vocabulary.relation(id), vocabulary.short_relation_label(id))

    def link(step: Step) -> Link:
        ends = (step.head, step.tail) if step.relation % 2 == 0 else (step.tail, step.head)
        return Link(
            entity(ends[0]), relation(step.relation), entity(ends[1]), step.rank is None, step.rank, step.probability
        )

    def formulas(denied: tuple[Denied, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(spell(part, vocabulary, of) for part, of in denied))

    bindings: dict[str, Named] = {}
    for node, id in reason.bindings.items():
        name, value = variable_of(node_at(tree, node)) or "v", entity(id)
        while bindings.get(name, value) != value:  # one variable of the question may be several of the tree
            name += "'"
        bindings[name] = value
    links: dict[tuple[Named, Named, Named], Link] = {}
    for one in map(link, reason.steps):  # one link may be walked in both directions, with a rank for each
        links.setdefault((one.subject, one.relation, one.object), one)
    return Why(bindings, tuple(links.values()), formulas(reason.absent), formulas(reason.contrary), evidence)
