"""One score of all sources of evidence: a listwise logistic regression, by relation.

Q questions, C candidates of a question, S sources, F = 2 S features of a candidate.

Each source says of a candidate t which share of its weight goes to t, and which rank it has:

    x = (log softmax(sharpness * score)_t, -log(1 + rank_t))  for each source, each feature standardised
    p(t | h, r) = exp(w_r x_t) / sum over candidates t' of exp(w_r x_t')

w is learned from held-out links: a common one, and one for each directed relation that is drawn to the common one, so
that a relation with few held-out links has nearly that. Both are found by Newton's method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.files.fields import wrong_field
from pathformer.links.evidence._base import Evidence, Ids, Scores

__all__ = ["Features", "Mixing", "Question", "features"]

Floats = npt.NDArray[np.float64]

DEEP = 1000  # ranks are told apart up to this one
_RIDGE = 1e-2  # of the common weights
_SHRINK = 5.0  # of a relation's weights, from the common ones
_ROUNDS = 30  # of Newton's method at most


@dataclass(frozen=True, eq=False, slots=True)
class Features:
    """What the sources say of all entities as the tail of one head: shares and ranks, (N, F)."""

    values: npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False, slots=True)
class Question:
    """A held-out link as a choice among candidates."""

    relation: int
    features: npt.NDArray[np.float32]  # (C, F), of the right one first
    stands_for: npt.NDArray[np.float32]  # (C,) how many candidates each stands for: others were drawn at random


def features(sources: Sequence[Evidence], heads: Ids, relation: int, barred: Sequence[Ids]) -> list[Features]:
    """Returns the features of all entities for each head; barred: of each head, entities that are no candidates."""
    found: list[list[Scores]] = [[] for _ in heads]
    for source in sources:
        rows = np.array(source.rows(heads, relation), np.float32)
        for own, row, none in zip(found, rows, barred, strict=True):
            row[none] = -np.inf
            own += [_log_shares(row * source.sharpness), _log_ranks(row)]
    return [Features(np.stack(own, axis=1)) for own in found]


@dataclass(frozen=True, eq=False)
class Mixing:
    """Learned weights of the sources."""

    sources: tuple[str, ...]  # (S,) their names, in order
    mean: Floats  # (F,)
    scale: Floats  # (F,)
    common: Floats  # (F,)
    own: Mapping[int, Floats]  # of directed relations with held-out links, (F,)

    @classmethod
    def even(cls, sources: Sequence[str]) -> Mixing:
        """Returns the mixture of equal shares, for a graph where too little was held out."""
        width = 2 * len(sources)
        common = np.tile([1.0 / max(len(sources), 1), 0.0], len(sources))
        return cls(tuple(sources), np.zeros(width), np.ones(width), common, {})

    @classmethod
    def fit(cls, sources: Sequence[str], questions: Sequence[Question]) -> Mixing:
        """Learns the weights from held-out links."""
        if not questions:
            return cls.even(sources)
        sample = np.concatenate([one.features for one in questions]).astype(np.float64)
        mean, scale = sample.mean(axis=0), np.maximum(sample.std(axis=0), 1e-6)
        scaled = [(one.relation, (one.features - mean) / scale, np.log(one.stands_for)) for one in questions]
        start = np.full(len(mean), 1.0 / len(mean))
        common = _climb([(x, offset) for _, x, offset in scaled], start, np.zeros(len(mean)), _RIDGE)
        by_relation: dict[int, list[tuple[Floats, Floats]]] = {}
        for relation, x, offset in scaled:
            by_relation.setdefault(relation, []).append((x, offset))
        own = {relation: _climb(some, common, common, _SHRINK) for relation, some in by_relation.items()}
        return cls(tuple(sources), mean, scale, common, own)

    def scores(self, given: Features, relation: int) -> Scores:
        """Returns log p of all entities as the tail, (N,); -inf for those that are no candidates."""
        weights = self.own.get(relation, self.common) / self.scale
        with np.errstate(invalid="ignore"):
            mixed = given.values @ weights.astype(np.float32)
        mixed[~np.isfinite(mixed)] = -np.inf  # -inf times any weight is not finite, nor is a sum with it
        return _log_shares(mixed)

    def to_json(self) -> dict[str, Any]:
        """Returns plain values; `from_json` reads them back."""
        return {
            "sources": list(self.sources),
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "common": self.common.tolist(),
            "own": {str(relation): weights.tolist() for relation, weights in self.own.items()},
        }

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Mixing:
        """Reads what `to_json` returned; ValueError for anything else."""
        numbers_of = dict.fromkeys(("mean", "scale", "common"), "a list of numbers")
        fields = {"sources": "a list", **numbers_of, "own": "an object of lists of numbers"}
        if problem := wrong_field(table, fields):
            raise ValueError(problem)
        width = 2 * len(table["sources"])
        rows = [table["mean"], table["scale"], table["common"], *table["own"].values()]
        numbers = [np.array(row, np.float64) for row in rows]
        if any(row.shape != (width,) for row in numbers) or not numbers[1].all():
            raise ValueError("not the weights of a mixture of sources")
        own = dict(zip(map(int, table["own"]), numbers[3:], strict=True))
        mean, scale, common = numbers[:3]
        return cls(tuple(table["sources"]), mean, scale, common, own)


def _log_shares(row: Scores) -> Scores:
    """Returns log softmax of a row, (N,)."""
    largest = row.max(initial=-np.inf)
    if not np.isfinite(largest):
        return row
    shares: Scores = row - (largest + np.log(np.exp(row - largest).sum()))
    return shares


def _log_ranks(row: Scores) -> Scores:
    """Returns -log(1 + rank) of each entry of a row, (N,).

    Equal entries have one rank, the mean of theirs. Those behind the first `DEEP` all have the rank `DEEP`, and so have
    equal ones that stand on both sides of that border.
    """
    deep = min(DEEP, len(row))
    ranks = np.full(len(row), -np.log1p(deep), np.float32)
    if not deep:
        return ranks
    border = np.partition(row, len(row) - deep)[len(row) - deep]  # of values alone: far quicker than of positions
    first = np.flatnonzero(row >= border)
    if len(first) > deep:
        first = np.flatnonzero(row > border)
    order = np.argsort(-row[first], kind="stable")
    values = row[first[order]]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))  # of runs of equal entries
    counts = np.diff(starts, append=len(first))
    ranks[first[order]] = np.repeat(-np.log1p(starts + (counts + 1) / 2), counts)
    ranks[np.isneginf(row)] = -np.log1p(deep)
    return ranks


def _climb(questions: Sequence[tuple[Floats, Floats]], start: Floats, toward: Floats, ridge: float) -> Floats:
    """Minimises -sum log p(right one) + ridge / 2 |w - toward|^2 by Newton's method: (F,)."""
    weights = start.copy()
    for _ in range(_ROUNDS):
        gradient, curvature = ridge * (weights - toward), ridge * np.eye(len(weights))
        for x, offset in questions:
            z = x @ weights + offset
            p = np.exp(z - z.max())
            p /= p.sum()
            mean = p @ x
            gradient += mean - x[0]
            curvature += (x * p[:, None]).T @ x - np.outer(mean, mean)
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-5:
            break
    return weights
