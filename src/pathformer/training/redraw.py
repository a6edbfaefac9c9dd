"""The queries that a model learns from: a first set, and sets that take its place while the model is trained.

Set 0 is what a run starts with; set n takes its place before step n * every. While one set is trained on, a thread
draws the next; where it is not ready in time, the trainer waits. Which queries a step sees depends on the seed and the
step alone, so a run that is continued draws the set where it stopped once more: the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import torch

from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.query.structures import Structure, is_chain
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import graph_pair
from pathformer.querysets.removed_by_negation import add_all_removed, sample_by_removed_answers
from pathformer.querysets.sampler import Rules, sample
from pathformer.training.data import TrainingSet
from pathformer.training.settings import Training

__all__ = ["Redrawer", "TrainingQueries"]

_ROOM = 0.25  # share of answers that a later set may have more than the first one


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingQueries:
    """The training queries of one model, by structure, and how sets of them are drawn."""

    kg: KnowledgeGraph
    given: Mapping[str, Queries]
    settings: Training
    rules: Rules = field(default_factory=lambda: Rules(forward=True))  # where the settings do not say how to walk

    def first_set(self) -> list[Queries]:
        """Returns the given queries, drawn anew where the settings ask for another way of drawing."""
        sets = [self._draw(part, "first") if self.own_way(part.structure) else part for part in self.given.values()]
        return self._add_removed(sets)

    def draw_set(self, number: int) -> list[Queries]:
        """Draws the n-th set: as many queries of each structure as given, and all links every time."""
        stream = f"fresh {number}"
        sets = [part if name == "1p" else self._draw(part, stream) for name, part in self.given.items()]
        return self._add_removed(sets)

    def on_device(self, device: torch.device) -> TrainingSet:
        """Puts the first set on the device, with room for later sets where there will be any."""
        room = _ROOM if self.settings.redraw_every else 0.0
        removed = self.settings.update.softmax.removed
        return TrainingSet.of(self.first_set(), self.kg.vocabulary.entity_count, device, room, removed)

    def own_way(self, structure: Structure) -> str:
        """Says in words how the settings draw a structure; empty where its queries are taken as given."""
        if structure.negated:
            return "drawn by what their negations take away" if self.settings.weigh_by_removed else ""
        walked = self.settings.walk_from_answer and is_chain(structure.shape) and structure.name != "1p"
        return "drawn, walked from an answer" if walked else ""

    def _draw(self, given: Queries, stream: str) -> Queries:
        """Draws as many queries of a structure; the given ones stand in where the graph holds none."""
        rules = replace(self.rules, forward=False) if self.settings.walk_from_answer else self.rules
        graphs, seed, most = graph_pair(self.kg, "train"), self.settings.seed, self.settings.weigh_by_removed
        structure, count = given.structure, len(given)
        if most and structure.negated:
            drawn = sample_by_removed_answers(structure, graphs, count, most, seed=seed, stream=stream, rules=rules)
        else:
            drawn = sample(structure, graphs, count, seed=seed, stream=stream, rules=rules)
        return drawn if len(drawn) else given

    def _add_removed(self, sets: Iterable[Queries]) -> list[Queries]:
        """Adds what negations take away, where the objective asks for it."""
        if not self.settings.update.softmax.removed:
            return list(sets)
        return add_all_removed(sets, graph_pair(self.kg, "train"))


class Redrawer:
    """Keeps the queries on a device up to date with the set that is due."""

    def __init__(self, data: TrainingSet, draw: Callable[[int], Sequence[Queries]], every: int) -> None:
        self._data, self._draw, self._every = data, draw, every
        self._pool = ThreadPoolExecutor(1, "redrawn-queries")
        self._next: tuple[int, Future[Sequence[Queries]]] | None = None
        self._current = 0  # number of the set on the device
        self._waited = 0.0

    def prepare(self, step: int) -> None:
        """Puts the set of a step in place and starts to draw the one after it."""
        due = step // self._every
        if due != self._current:
            self._data.refill(self._take(due))
            self._current = due
        if self._next is None or self._next[0] != due + 1:
            self._next = due + 1, self._pool.submit(self._draw, due + 1)

    def _take(self, number: int) -> Sequence[Queries]:
        begun, ahead = time.monotonic(), self._next
        drawn = ahead[1].result() if ahead is not None and ahead[0] == number else self._draw(number)
        self._waited += time.monotonic() - begun
        return drawn

    def take_waited(self) -> float:
        """Returns the seconds that the trainer waited for queries since the last call."""
        seconds, self._waited = self._waited, 0.0
        return seconds

    def close(self) -> None:
        """Draws no more; a set that is being drawn is finished and dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)
