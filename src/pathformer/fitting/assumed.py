"""How often reasons are right: the share of the links they assume that a larger graph has.

The given graph does not prove a held-out answer and the larger graph does, so some links behind it are true and
missing. A good reason assumes these links; a binding drawn at random assumes others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from pathformer.engine.find.exact_sets import ExactSets
from pathformer.engine.reasons.guess import Guesser
from pathformer.engine.reasons.proof import Reason
from pathformer.kg.graph import Graph
from pathformer.query.tree import Tree

if TYPE_CHECKING:
    from pathformer.engine.engine import Engine

__all__ = ["AssumedShare", "assumed_share"]


@dataclass(frozen=True, slots=True)
class AssumedShare:
    """How many links the reasons of held-out answers assume, and how many of these are true."""

    answers: int
    assumed: int  # assumed links
    true: int  # assumed links that the larger graph has
    random_assumed: int  # links that bindings drawn at random assume
    random_true: int  # such links that the larger graph has

    @property
    def share(self) -> float:
        """The share of assumed links that are true; 0 where none is assumed."""
        return self.true / self.assumed if self.assumed else 0.0

    @property
    def random_share(self) -> float:
        """The share of true links among those that bindings drawn at random assume."""
        return self.random_true / self.random_assumed if self.random_assumed else 0.0

    def to_dict(self) -> dict[str, float]:
        """Returns plain values."""
        return {**asdict(self), "share": self.share, "random_share": self.random_share}


def assumed_share(
    engine: Engine, held_out: Sequence[tuple[Tree, int]], given: Graph, larger: Graph, seed: int = 0
) -> AssumedShare:
    """Explains held-out answers (a tree and an entity each) on the `given` graph, and looks the links up in `larger`.

    Leave out trees without a variable between anchor and answer: they have only one binding.
    """
    draw = np.random.default_rng(seed)
    sets = ExactSets(given)
    best = Guesser(engine.encoder, engine.index, sets)
    random = Guesser(engine.encoder, engine.index, sets, draw)
    chosen = [best.explain(tree, np.array([entity]))[0] for tree, entity in held_out]
    drawn = [random.explain(tree, np.array([entity]))[0] for tree, entity in held_out]
    return AssumedShare(len(held_out), *_count(chosen, larger), *_count(drawn, larger))


def _count(reasons: Iterable[Reason], larger: Graph) -> tuple[int, int]:
    """Counts the assumed links, and the assumed links that the larger graph has."""
    assumed = [step for reason in reasons for step in reason.steps if step.rank is not None]
    return len(assumed), sum(larger.has(step.head, step.relation, step.tail) for step in assumed)
