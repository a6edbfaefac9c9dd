"""How often a reason is right: the share of its assumed edges that a larger graph has.

A held-out answer is one that the given graph does not prove and the larger one does, so some edges behind it are true
and missing. A good reason assumes just those; a binding drawn at random assumes others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from pathformer.engine.find.known import ExactSets
from pathformer.engine.reasons.guess import Guesser
from pathformer.engine.reasons.proof import Reason
from pathformer.kg.graph import Graph
from pathformer.query.tree import Tree

if TYPE_CHECKING:
    from pathformer.engine.engine import Engine

__all__ = ["AssumedShare", "assumed_share"]


@dataclass(frozen=True, slots=True)
class AssumedShare:
    """What the reasons of held-out answers assume."""

    answers: int
    assumed: int  # edges
    true: int  # of them, on the larger graph
    random_assumed: int  # the same for a binding drawn at random
    random_true: int

    @property
    def share(self) -> float:
        """Of assumed edges that are true; 0 where none is assumed."""
        return self.true / self.assumed if self.assumed else 0.0

    @property
    def random_share(self) -> float:
        """The same for a binding drawn at random."""
        return self.random_true / self.random_assumed if self.random_assumed else 0.0

    def to_dict(self) -> dict[str, float]:
        """As plain values."""
        return {**asdict(self), "share": self.share, "random_share": self.random_share}


def assumed_share(
    engine: Engine, held_out: Sequence[tuple[Tree, int]], given: Graph, larger: Graph, seed: int = 0
) -> AssumedShare:
    """Explain held-out answers (a tree and an entity each) on the `given` graph, and look their edges up in `larger`.

    Trees without a variable between anchor and answer have one binding only, so they tell nothing: leave them out.
    """
    draw = np.random.default_rng(seed)
    sets = ExactSets(given)
    best = Guesser(engine.encoder, engine.index, sets)
    random = Guesser(engine.encoder, engine.index, sets, draw)
    chosen = [best.explain(tree, np.array([entity]))[0] for tree, entity in held_out]
    drawn = [random.explain(tree, np.array([entity]))[0] for tree, entity in held_out]
    return AssumedShare(len(held_out), *_count(chosen, larger), *_count(drawn, larger))


def _count(reasons: Iterable[Reason], larger: Graph) -> tuple[int, int]:
    """Assumed edges, and those of them that the larger graph has."""
    assumed = [step for reason in reasons for step in reason.steps if step.rank is not None]
    return len(assumed), sum(larger.has(step.head, step.relation, step.tail) for step in assumed)
