"""The positions of a computation tree's parts: anchors on the left, the answer on the right, one lane a path.

A *branch* is a start and the operators after it, as a path query is; a *junction* is where branches meet, an
intersection (the paper's fork) or a union. Branches that meet end at the same x; an edge is as long as its label needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pathformer.query.structures import unchain
from pathformer.query.tree import Anchor, Intersection, Tree, Union

__all__ = ["Branch", "Junction", "Measure", "arrange", "parts_of", "place"]


@dataclass(eq=False, slots=True)
class Junction:
    """A point where branches meet."""

    union: bool
    branches: list[Branch]
    x: float = 0.0
    y: float = 0.0


@dataclass(eq=False, slots=True)
class Branch:
    """A lane: a start, and after it one node for every operator; without operators, a junction that feeds another."""

    start: int | Junction
    operators: tuple[int, ...]
    xs: list[float] = field(default_factory=list)  # of the nodes, start first
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Measure:
    """The space that things need."""

    lane: float
    joint: float  # from the end of a branch to the junction
    edge: Callable[[int], float]  # by operator


def arrange(tree: Tree) -> Branch | Junction:
    """The branches and junctions of a tree; unions stay where they are."""
    start, chain = unchain(tree)
    match start:
        case Anchor(entity):
            return Branch(entity, chain)
        case Intersection(branches) | Union(branches):
            inner = [arrange(branch) for branch in branches]
            lanes = [part if isinstance(part, Branch) else Branch(part, ()) for part in inner]
            junction = Junction(isinstance(start, Union), lanes)
            return Branch(junction, chain) if chain else junction


def parts_of(part: Branch | Junction) -> Iterator[Branch | Junction]:
    """All parts, those that others need first: the order in which paths and forks are numbered."""
    if isinstance(part, Junction):
        for branch in part.branches:
            yield from parts_of(branch)
    elif isinstance(part.start, Junction):
        yield from parts_of(part.start)
    yield part


def place(part: Branch | Junction, right: float, top: float, measure: Measure) -> float:
    """Place a part whose last node lies at x = `right`, from y = `top` downwards; returns where it ends below."""
    if isinstance(part, Junction):
        part.x, bottom = right, top
        for branch in part.branches:
            bottom = place(branch, right - measure.joint, bottom, measure)
        part.y = (part.branches[0].y + part.branches[-1].y) / 2
        return bottom
    part.xs = [right]
    for operator in reversed(part.operators):
        part.xs.insert(0, part.xs[0] - measure.edge(operator))
    if isinstance(part.start, Junction):
        bottom = place(part.start, part.xs[0], top, measure)
        part.y = part.start.y
        return bottom
    part.y = top + measure.lane / 2
    return top + measure.lane
