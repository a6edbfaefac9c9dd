"""A batch as flat sequences, one a disjunct: all routes from the target to an anchor, one after the other.

D disjuncts, T tokens of all of them, A of entities, O of relations, M that stand for a target; L tokens of a route.

    e -r1-> v -r2-> ?x      [MASK] r2 [MASK] r1 e [SEP]
    2i                      [MASK] r1 e1 [SEP] [MASK] r2 e2 [SEP]
    ip                      [MASK] r3 [MASK] r1 e1 [SEP] [MASK] r3 [MASK] r2 e2 [SEP]      shared parts are repeated

A token's position counts from the start of its route, the target of each being 0, so routes have no order among each
other. Like every index tensor of a batch these depend on its layout alone, and so do [MASK], [SEP] and positions: what
they add to the tokens is one product with a matrix of zeros and ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pathformer.nn.packing import Packing
from pathformer.plan.build import decompose
from pathformer.plan.layout import Layout
from pathformer.query.compile.paths import Fork, Path

__all__ = ["MARKS", "FlatSequences", "longest_route", "routes"]

MARKS = 2  # [MASK] and [SEP], which stand before the positions
_ENTITY, _RELATION, _MASK, _SEPARATOR = range(4)

Ints = npt.NDArray[np.int64]
Route = tuple[int, tuple[int, ...]]  # the anchor, and the operators from there to the target


def routes(query: Path | Fork) -> list[Route]:
    """Lists all routes from an anchor to the target, in the order of the query."""
    if isinstance(query, Fork):
        return [route for branch in query.branches for route in routes(branch)]
    if isinstance(query.start, int):
        return [(query.start, query.operators)]
    return [(anchor, (*before, *query.operators)) for anchor, before in routes(query.start)]


def longest_route(layout: Layout) -> int:
    """Computes L of a layout without negations: a route has its target, two tokens for each operator, and [SEP]."""
    queries = (query for block in layout.blocks for query in decompose(block.structure, layout.union))
    return max((2 * len(operators) + 2 for query in queries for _, operators in routes(query)), default=0)


@dataclass(frozen=True, eq=False)
class FlatSequences:
    """One packed sequence a query, longest first."""

    packing: Packing
    entity_sources: Tensor  # (A,) positions in the batch's ids
    relation_sources: Tensor  # (O,) positions in the batch's ids
    places: Tensor  # (A + O,) tokens of entities, then those of relations
    marks: Tensor  # (T, MARKS + L) float32: 1 for [MASK], for [SEP], and for the position of the token in its route
    longest: int  # L of the longest route
    targets: Tensor  # (M,) the first target of every disjunct, then the second of those that have one, ...
    sizes: tuple[int, ...]  # how many have a first target, a second, ...: those of most targets come first
    back: Tensor  # (D,) the position of each disjunct of the layout among them

    @classmethod
    def of(cls, layout: Layout, device: torch.device) -> FlatSequences:
        """Makes the tensors of a layout without unions and negations."""
        return _Builder(layout).build(device)


@dataclass(frozen=True, eq=False)
class _Run:
    """One disjunct of a structure, for all queries of a block."""

    tokens: tuple[tuple[int, int, int], ...]  # kind, column, position
    sources: Ints  # (count, tokens) places in the batch's ids
    points: Ints  # (count,) numbers of the disjuncts in the layout

    @property
    def targets(self) -> Ints:
        """Returns the tokens at which routes begin."""
        return np.flatnonzero(np.array([position for _, _, position in self.tokens]) == 0)


class _Builder:
    def __init__(self, layout: Layout) -> None:
        runs, base, first = [], 0, 0
        for block in layout.blocks:
            queries, width = decompose(block.structure, layout.union), len(block.structure.columns)
            rows = base + np.arange(block.count)[:, None] * width
            for position, query in enumerate(queries):
                tokens = _tokens(query)
                columns = np.array([column for _, column, _ in tokens])
                runs.append(_Run(tokens, rows + columns, first + np.arange(block.count) * len(queries) + position))
            base, first = base + block.count * width, first + block.count * len(queries)
        self.runs = sorted(runs, key=lambda run: -len(run.tokens))

    def build(self, device: torch.device) -> FlatSequences:
        kinds = self._spread(0)
        sources = np.concatenate([np.empty(0, np.int64), *(run.sources.reshape(-1) for run in self.runs)])
        entities, relations = np.flatnonzero(kinds == _ENTITY), np.flatnonzero(kinds == _RELATION)
        lengths = np.concatenate([np.empty(0, np.int64), *(np.full(len(r.points), len(r.tokens)) for r in self.runs)])
        positions = self._spread(2)
        longest = int(positions.max(initial=-1)) + 1
        marks = np.zeros((len(kinds), MARKS + longest), np.float32)
        marks[:, 0], marks[:, 1] = kinds == _MASK, kinds == _SEPARATOR
        marks[np.arange(len(kinds)), MARKS + positions] = 1.0
        targets, sizes, back = self._targets()

        def tensor(values: npt.NDArray[Any]) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(device)

        return FlatSequences(
            Packing.of(lengths, device),
            tensor(sources[entities]),
            tensor(sources[relations]),
            tensor(np.concatenate([entities, relations])),
            tensor(marks),
            longest,
            tensor(targets),
            sizes,
            tensor(back),
        )

    def _spread(self, field: int) -> Ints:
        """Returns one field of every token, (T,)."""
        parts = [np.tile([token[field] for token in run.tokens], len(run.points)) for run in self.runs]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def _targets(self) -> tuple[Ints, tuple[int, ...], Ints]:
        """Returns the positions of targets, how many disjuncts have so many, and where each disjunct stands."""
        found, offset = [], 0
        for run in self.runs:
            starts = offset + np.arange(len(run.points))[:, None] * len(run.tokens)
            found.append((starts + run.targets, run.points))
            offset += len(run.points) * len(run.tokens)
        found.sort(key=lambda pair: -pair[0].shape[1])
        widest = max((positions.shape[1] for positions, _ in found), default=0)
        columns = [
            np.concatenate([positions[:, column] for positions, _ in found if column < positions.shape[1]])
            for column in range(widest)
        ]
        points = np.concatenate([np.empty(0, np.int64), *(points for _, points in found)])
        return (
            np.concatenate([np.empty(0, np.int64), *columns]),
            tuple(map(len, columns)),
            np.argsort(points),
        )


def _tokens(query: Path | Fork) -> tuple[tuple[int, int, int], ...]:
    """Returns kind, column and position of every token, route by route."""
    tokens: list[tuple[int, int, int]] = []
    for anchor, operators in routes(query):
        route = [(_MASK, 0)]
        for operator in reversed(operators):
            route += [(_RELATION, operator), (_MASK, 0)]
        route[-1:] = [(_ENTITY, anchor), (_SEPARATOR, 0)]  # the last unknown is no unknown: it is the anchor
        tokens += [(kind, column, position) for position, (kind, column) in enumerate(route)]
    return tuple(tokens)
