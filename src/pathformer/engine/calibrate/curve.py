"""One curve from what was found to probabilities: a logistic regression, made rising and exact by an isotonic fit.

n predictions, F features (`features`).

    z = b + sum_f w_f (x_f - mean_f) / scale_f      logistic regression with a little ridge, by Newton's method
    p = g(z)                                        g isotonic: rising, fitted by pooling adjacent violators

Within a query z never rises from one prediction to the next, so a nearer entity is never less likely than a farther
one. A known answer has probability 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.engine.calibrate.features import FEATURES, features
from pathformer.engine.find.candidates import Candidates
from pathformer.files.fields import wrong_field
from pathformer.links.logistic import fit_steps, logistic, regress

__all__ = ["Curve"]

Floats = npt.NDArray[np.float64]

_RIDGE = 1.0  # of the standardised weights: one pseudo-observation each
_FIELDS = {
    "predictions": "a count",
    "bias": "a number",
    "features": "an object",
    "steps": "a list",
    "levels": "a list",
}


@dataclass(frozen=True, eq=False)
class Curve:
    """A fitted map from what was found to probabilities."""

    mean: Floats  # (F,)
    scale: Floats  # (F,)
    weights: Floats  # (F,)
    bias: float
    steps: Floats  # (S,) values of z, ascending
    levels: Floats  # (S,) the probability at each, ascending
    predictions: int  # it was fitted on; 0: not fitted, the default

    @classmethod
    def none(cls) -> Curve:
        """Returns the default where too little was held out: 10 % for the first prediction, a k-th of it further on."""
        weights = np.zeros(len(FEATURES))
        weights[0] = -1.0
        z = np.linspace(-20.0, 20.0, 401)
        flat, one = np.zeros(len(FEATURES)), np.ones(len(FEATURES))
        return cls(flat, one, weights, float(np.log(0.1 / 0.9)), z, logistic(z), 0)

    @classmethod
    def fit(cls, found: Sequence[Candidates], right: Sequence[npt.NDArray[np.bool_]]) -> Curve:
        """Fits on held-out queries: what was found for each, and which of its predictions were right, (P,) a query."""
        tables = [features(one) for one in found]
        truth = np.concatenate([np.zeros(0), *right])
        if not 0 < truth.sum() < len(truth):
            return cls.none()  # nothing to tell right from wrong by
        table = np.concatenate(tables)
        mean, scale = table.mean(axis=0), table.std(axis=0)
        scale[scale < 1e-9] = 1.0
        weights, bias = _regress((table - mean) / scale, truth)
        line = np.linspace(-20.0, 20.0, 2)
        rough = cls(mean, scale, weights, bias, line, line, len(truth))
        z = np.concatenate([rough._scores(one) for one in tables])
        steps, levels = fit_steps(z, truth)
        return cls(mean, scale, weights, bias, steps, levels, len(truth))

    @property
    def fitted(self) -> bool:
        """Whether held-out queries stand behind it."""
        return self.predictions > 0

    def probabilities(self, found: Candidates, odd: npt.NDArray[np.bool_] | None = None) -> Floats:
        """Returns the probability of every entity found, (K,): 1 for a known answer, else how likely it is one.

        odd: (K,) predictions that are not counted. Others are as likely as if these were not there; what is said of
        these themselves lies between their neighbours.
        """
        result = np.ones(len(found))
        result[found.predicted] = np.interp(self._scores(features(found)), self.steps, self.levels)
        if odd is not None and odd.any():
            result[~odd], rough = self.probabilities(found.where(~odd)), result[odd]
            result[odd] = np.clip(rough, *_between(result, odd, found.predicted))
        return result

    def to_json(self) -> dict[str, Any]:
        """Returns plain values; `from_json` reads them back."""
        return {
            "predictions": self.predictions,
            "bias": self.bias,
            "features": {
                name: {"mean": float(mean), "scale": float(scale), "weight": float(weight)}
                for name, mean, scale, weight in zip(FEATURES, self.mean, self.scale, self.weights, strict=True)
            },
            "steps": self.steps.tolist(),
            "levels": self.levels.tolist(),
        }

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Curve:
        """Reads what `to_json` returned; ValueError for anything else."""
        if problem := wrong_field(table, _FIELDS):
            raise ValueError(problem)
        try:
            rows = [[table["features"][name][key] for name in FEATURES] for key in ("mean", "scale", "weight")]
            mean, scale, weights = np.array(rows, np.float64)
            steps, levels = np.array(table["steps"], np.float64), np.array(table["levels"], np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not the numbers of a calibration: {error}") from error
        finite = all(np.isfinite(numbers).all() for numbers in (mean, scale, weights, steps, levels))
        if not finite or not scale.all() or steps.shape != levels.shape or steps.ndim != 1 or not len(steps):
            raise ValueError("not the numbers of a calibration")
        if levels.min() < 0.0 or levels.max() > 1.0:
            raise ValueError("'levels' are no probabilities")
        return cls(mean, scale, weights, table["bias"], steps, levels, table["predictions"])

    def _scores(self, table: Floats) -> Floats:
        """z of one query's predictions, (P, F) -> (P,), never rising."""
        z = (table - self.mean) / self.scale @ self.weights + self.bias
        return np.minimum.accumulate(z)


def _between(falling: Floats, odd: npt.NDArray[np.bool_], predicted: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The least and the most that odd ones may be in a sequence of predictions that falls without them."""
    values, apart = falling[predicted], odd[predicted]
    before = np.minimum.accumulate(np.where(apart, 1.0, values))
    after = np.maximum.accumulate(np.where(apart, 0.0, values)[::-1])[::-1]
    return after[apart], before[apart]


def _regress(table: Floats, truth: Floats) -> tuple[Floats, float]:
    """Logistic regression of standardised features (n, F): their weights, and the bias, which is free."""
    ridge = np.append(np.full(table.shape[1], _RIDGE), 1e-6)
    weights = regress(np.column_stack([table, np.ones(len(table))]), truth, ridge)
    return weights[:-1], float(weights[-1])
