"""Reasons in ids: which entity each variable of a tree stands for, and the edges that follow from that.

`prove` finds one for a known answer, by going back from it through sets that were computed exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pathformer.engine.find.known import ExactSets
from pathformer.engine.reasons.why import Edge, Named, Why
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.print import spell
from pathformer.query.tree import Anchor, Intersection, Negation, NodeId, Projection, Tree, Union, node_at, variable_of

__all__ = ["Reason", "Step", "prove", "say"]

Denied = tuple[Tree, int]  # what a negation denies, and of which entity


@dataclass(frozen=True, slots=True)
class Step:
    """An edge along a directed relation."""

    head: int
    relation: int
    tail: int
    rank: int | None = None  # None: the graph has the edge


@dataclass(frozen=True, slots=True)
class Reason:
    """A binding of a tree's variables, its edges, and what must not hold: negated parts, each with an entity.

    Those that do hold on the graph as it is are contrary.
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
    """One reason for an entity that is an answer of the tree on the graph of `sets`."""
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


def say(reason: Reason, tree: Tree, vocabulary: Vocabulary) -> Why:
    """A reason for an answer of the tree, in names."""

    def named(entity: int) -> Named:
        label = vocabulary.label(entity)
        return Named(vocabulary.entity(entity), label, label != vocabulary.distinct_label(entity))

    def relation(id: int) -> Named:
        return Named(vocabulary.relation(id), vocabulary.short_relation_label(id))

    def edge(step: Step) -> Edge:
        ends = (step.head, step.tail) if step.relation % 2 == 0 else (step.tail, step.head)
        return Edge(named(ends[0]), relation(step.relation), named(ends[1]), step.rank is None, step.rank)

    bindings: dict[str, Named] = {}
    for node, entity in reason.bindings.items():
        name, value = variable_of(node_at(tree, node)) or "v", named(entity)
        while bindings.get(name, value) != value:  # one variable of the question may be several of the tree
            name += "'"
        bindings[name] = value

    def spelled(denied: tuple[Denied, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(spell(part, vocabulary, entity) for part, entity in denied))

    edges: dict[tuple[Named, Named, Named], Edge] = {}
    for said in map(edge, reason.steps):  # one edge may be walked in both directions, with a rank for each
        edges.setdefault((said.subject, said.relation, said.object), said)
    return Why(bindings, tuple(edges.values()), spelled(reason.absent), spelled(reason.contrary))
