"""MRR and Hits@k from ranks: of a query, of a structure, and averaged (Eq. 7, label eq5).

    Metric(q) = 1 / |hard answers| * sum over hard answers of f(rank(e)),   f(x) = 1 / x  or  [x <= k]

The metric of a structure is the mean over its queries, "avg" the mean over structures. A query without ranked answers
is left out; a structure without such queries has nan and is left out of "avg".

Ties have a named policy. With c nearer and t tied entities, the rank is between c + 1 and c + t + 1:

    expected     the mean of f over those t + 1 ranks: the long-run result of shuffling ties (the default)
    optimistic   rank c + 1
    mean         rank c + 1 + t / 2
    pessimistic  rank c + t + 1

The paper is silent; the reference code sorts, so that its ties depend on the sort. A scorer that gives all n entities
the same distance gets 1.0 from "optimistic" and about ln(n) / n from "expected".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from pathformer.evaluation.ranks import Ranks

__all__ = ["HITS", "TIES", "Scores", "Ties", "average", "hits", "reciprocal_ranks", "score", "score_answers"]

Ties = Literal["expected", "optimistic", "mean", "pessimistic"]
TIES: tuple[Ties, ...] = ("expected", "optimistic", "mean", "pessimistic")
HITS = (1, 3, 10)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """The metrics of a set of queries, each between 0 and 1."""

    mrr: float
    hits: Mapping[int, float]  # k -> Hits@k
    queries: int  # with a ranked answer
    answers: int  # ranked


def score(ranks: Ranks, ties: Ties = "expected") -> Scores:
    """Returns the mean over queries of the mean over each query's answers."""
    counts = np.diff(ranks.ptr)
    weights = np.repeat(1.0 / np.maximum(counts, 1), counts)
    queries = int((counts > 0).sum())

    def mean(values: Floats) -> float:
        return float((weights * values).sum() / queries) if queries else float("nan")

    return Scores(
        mrr=mean(reciprocal_ranks(ranks, ties)),
        hits={k: mean(hits(ranks, k, ties)) for k in HITS},
        queries=queries,
        answers=len(ranks.closer),
    )


def score_answers(ranks: Ranks, ties: Ties = "expected") -> Scores:
    """Returns the mean over answers, in which a query counts as often as it has answers: the custom of single links."""
    alone = Ranks(np.arange(len(ranks.closer) + 1), ranks.closer, ranks.tied)
    return replace(score(alone, ties), queries=int((np.diff(ranks.ptr) > 0).sum()))


def average(scores: Iterable[Scores]) -> Scores:
    """Returns the mean over structures with ranked answers; counts are summed."""
    parts = [part for part in scores if part.queries]

    def mean(values: list[float]) -> float:
        return float(np.mean(values)) if values else float("nan")

    return Scores(
        mrr=mean([part.mrr for part in parts]),
        hits={k: mean([part.hits[k] for part in parts]) for k in HITS},
        queries=sum(part.queries for part in parts),
        answers=sum(part.answers for part in parts),
    )


def reciprocal_ranks(ranks: Ranks, ties: Ties = "expected") -> Floats:
    """Returns 1 / rank of every answer, (A,)."""
    if ties != "expected":
        return 1.0 / _rank(ranks, ties)
    first, count = ranks.closer + 1.0, ranks.tied + 1.0
    together = (_harmonic(ranks.closer + count) - _harmonic(ranks.closer)) / count
    return np.where(
        ranks.tied == 0, 1.0 / first, together
    )  # without ties the difference of two sums would only lose digits


def hits(ranks: Ranks, k: int, ties: Ties = "expected") -> Floats:
    """Returns [rank <= k] of every answer, (A,); a share between 0 and 1 if ties lie on both sides of k."""
    if ties != "expected":
        return (_rank(ranks, ties) <= k).astype(np.float64)
    count = ranks.tied + 1.0
    return np.clip(k - ranks.closer, 0, count) / count


def _rank(ranks: Ranks, ties: Ties) -> Floats:
    share = {"optimistic": 0.0, "mean": 0.5, "pessimistic": 1.0}[ties]
    return ranks.closer + 1.0 + share * ranks.tied


def _harmonic(numbers: npt.NDArray[np.number]) -> Floats:
    """Returns 1 + 1/2 + ... + 1/n: a sum up to 1,000, above that Euler and Maclaurin's series, exact to 64 bits."""
    table = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, 1001))))
    n = np.maximum(numbers, 1).astype(np.float64)
    series = np.log(n) + np.euler_gamma + 1 / (2 * n) - 1 / (12 * n**2) + 1 / (120 * n**4)
    sums: Floats = np.where(numbers <= 1000, table[np.minimum(numbers, 1000).astype(np.int64)], series)
    return sums
