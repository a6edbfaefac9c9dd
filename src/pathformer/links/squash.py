"""Ways to make probabilities of a predictor's raw scores, row by row, where nothing was calibrated.

s (B, N) raw scores of heads and all tails along one relation; `counts` (B,) the known tails of each head.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from pathformer.errors import ConfigError
from pathformer.kg.graph import Graph
from pathformer.links.table import Rows

__all__ = ["Squash", "squash"]

Floats = npt.NDArray[np.float32]
Squash = Literal["none", "softmax", "sigmoid", "min-max"]

CEILING = np.float32(0.9999)  # a prediction is never as certain as a fact (QTO's figure)


def squash(scores: Rows, how: Squash, facts: Graph) -> Rows:
    """Returns rows of probabilities made of rows of raw scores; `none`: they are probabilities already."""
    if how == "none":
        return scores
    if how not in ("softmax", "sigmoid", "min-max"):
        raise ConfigError(f"there is no squash {how!r}: the known ones are none, softmax, sigmoid, min-max")

    def rows(heads: npt.NDArray[np.integer], relation: int) -> Floats:
        raw = scores(heads, relation)
        if how == "softmax":
            return _softmax(raw, np.array([len(facts.tails_of(head, relation)) for head in heads.tolist()]))
        return _sigmoid(raw) if how == "sigmoid" else _min_max(raw)

    return rows


def _softmax(scores: Floats, counts: npt.NDArray[np.integer]) -> Floats:
    """p = min(0.9999, max(1, counts) exp(s) / sum_t exp(s)): a head with many tails may have many likely ones (QTO)."""
    rows: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    rows *= (np.maximum(1, counts) / rows.sum(axis=1, dtype=np.float64)).astype(np.float32)[:, None]
    return np.minimum(rows, CEILING, out=rows)


def _sigmoid(scores: Floats) -> Floats:
    """p = 1 / (1 + exp(-s)), at least exp(-88)."""
    rows: Floats = np.exp(np.minimum(-scores, np.float32(88)))  # more would overflow
    rows += 1
    return np.reciprocal(rows, out=rows)


def _min_max(scores: Floats) -> Floats:
    """p = (s - min s) / (max s - min s), over the tails of a head; 0 where all scores are equal."""
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    rows: Floats = (scores - low) / np.maximum(high - low, np.finfo(np.float32).tiny)
    return rows
