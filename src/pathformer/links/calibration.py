"""How likely a predicted link is, from its share of what the sources say: a logistic regression by relation.

n predictions of held-out questions, K features of a prediction.

    z = w x + b + b_r        x = (logit of the share, log of its rank, log(1 + known tails of the head))
    p = g(z)                 g isotonic: rising, fitted by pooling adjacent violators

b_r is drawn to 0, so a relation with few held-out questions has the common probabilities. Within a question no
prediction is likelier than one that ranks before it. p says how often such a prediction is right among questions that
have a missing answer: all that it was fitted on had one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.files.fields import wrong_field
from pathformer.links.logistic import fit_steps, logistic, regress
from pathformer.links.rates import Rates

__all__ = ["LinkCalibration", "Predictions"]

Floats = npt.NDArray[np.float64]

_MOST = 0.999  # a share is clipped to it, and to one minus it
_RIDGE, _SHRINK = 1e-2, 4.0  # of w, and of b_r: about so many right answers stand against it
_ROUNDS = 50


@dataclass(frozen=True, eq=False, slots=True)
class Predictions:
    """Predictions of some questions, each question's in order of rank."""

    relation: npt.NDArray[np.int64]  # (n,) directed
    log_share: Floats  # (n,)
    rank: npt.NDArray[np.int64]  # (n,) from 1, within the question
    known: npt.NDArray[np.int64]  # (n,) known tails of the question's head

    @classmethod
    def of(cls, relation: int, log_shares: npt.NDArray[np.floating], known: int) -> Predictions:
        """Makes the predictions of one question, best first."""
        count = len(log_shares)
        return cls(
            np.full(count, relation), np.asarray(log_shares, np.float64), np.arange(1, count + 1), np.full(count, known)
        )

    @classmethod
    def join(cls, parts: list[Predictions]) -> Predictions:
        """Puts the predictions of several questions one after the other."""
        return cls(
            *(
                np.concatenate([getattr(one, name) for one in parts])
                for name in ("relation", "log_share", "rank", "known")
            )
        )

    @property
    def features(self) -> Floats:
        """What probabilities are made of, (n, K)."""
        share = np.clip(np.exp(self.log_share), 1 - _MOST, _MOST)
        logit = np.maximum(self.log_share, np.log(1e-9)) - np.log1p(-share)
        return np.stack([logit, np.log(self.rank), np.log1p(self.known)], axis=1)


@dataclass(frozen=True, eq=False)
class LinkCalibration:
    """A fitted map from shares to probabilities."""

    weights: Floats  # (K + 1,) of the features, and b
    own: Mapping[int, float]  # b_r of directed relations
    steps: Floats  # of z, ascending
    levels: Floats  # the probability at each, ascending
    fitted_on: int  # predictions; 0: the shares themselves are given
    rates: Rates | None = None  # of the same predictions, to compare probabilities with

    @classmethod
    def none(cls) -> LinkCalibration:
        """Returns the map that gives the shares themselves, for a graph where too little was held out."""
        z = np.linspace(-20.0, 20.0, 401)
        return cls(np.array([1.0, 0.0, 0.0, 0.0]), {}, z, logistic(z), 0)

    @classmethod
    def fit(cls, given: Predictions, right: npt.NDArray[np.bool_]) -> LinkCalibration:
        """Fits on the predictions of held-out questions; right (n,)."""
        if not 0 < right.sum() < len(right):
            return cls.none()  # nothing to tell right from wrong by
        design = np.column_stack([given.features, np.ones(len(right))])
        truth = right.astype(np.float64)
        weights = regress(design, truth, np.full(design.shape[1], _RIDGE))
        rough = design @ weights
        own = {
            int(relation): _shift(rough[chosen], truth[chosen])
            for relation in np.unique(given.relation)
            if (chosen := given.relation == relation).any()
        }
        z = rough + np.array([own[int(relation)] for relation in given.relation])
        steps, levels = fit_steps(z, truth)
        return cls(weights, own, steps, levels, len(right), Rates.fit(given.relation, given.rank, right))

    def probabilities(self, given: Predictions) -> Floats:
        """Returns how likely each prediction is right, (n,)."""
        p: Floats = np.interp(self.logits(given), self.steps, self.levels)
        first = np.flatnonzero(given.rank == 1)  # none where nothing is predicted
        for start, end in pairwise([*first.tolist(), len(p)]):
            p[start:end] = np.minimum.accumulate(p[start:end])
        return p

    def logits(self, given: Predictions) -> Floats:
        """Returns z of each prediction, (n,): the order of predictions that have one probability."""
        kinds, place = np.unique(given.relation, return_inverse=True)
        shift = np.array([self.own.get(int(relation), 0.0) for relation in kinds])
        z: Floats = given.features @ self.weights[:-1] + self.weights[-1] + shift[place]
        return z

    def to_json(self) -> dict[str, Any]:
        """Returns plain values; `from_json` reads them back."""
        return {
            "weights": self.weights.tolist(),
            "own": {str(relation): shift for relation, shift in self.own.items()},
            "steps": self.steps.tolist(),
            "levels": self.levels.tolist(),
            "fitted_on": self.fitted_on,
            "rates": None if self.rates is None else self.rates.to_json(),
        }

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> LinkCalibration:
        """Reads what `to_json` returned; ValueError for anything else."""
        fields = {
            **dict.fromkeys(("weights", "steps", "levels"), "a list of numbers"),
            "own": "an object of numbers",
            "fitted_on": "a count",
        }
        if problem := wrong_field(table, fields):
            raise ValueError(problem)
        weights, steps, levels = (np.array(table[name], np.float64) for name in ("weights", "steps", "levels"))
        own = {int(relation): float(shift) for relation, shift in table["own"].items()}
        if weights.shape != (4,) or steps.shape != levels.shape or not len(steps):
            raise ValueError("not the numbers of a calibration of links")
        rates = None if table.get("rates") is None else Rates.from_json(table["rates"])
        return cls(weights, own, steps, levels, int(table["fitted_on"]), rates)


def _shift(z: Floats, truth: Floats) -> float:
    """Returns b_r: minimises -log likelihood of z + b_r, + shrink / 2 b_r^2."""
    shift = 0.0
    for _ in range(_ROUNDS):
        p = logistic(z + shift)
        step = float((p - truth).sum() + _SHRINK * shift) / float((p * (1 - p)).sum() + _SHRINK)
        shift -= float(np.clip(step, -1.0, 1.0))
        if abs(step) < 1e-8:
            break
    return shift
