"""How far an engine's probabilities hold: for all predictions, for each relation and structure, and for first ones.

n predictions with probability p and truth y (1 right, 0 wrong); ECE in `BINS` bins of equal mass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pathformer.engine.calibrate.reliability import Reliability, reliability
from pathformer.evaluation.predictions import Judged
from pathformer.kg.vocabulary import Vocabulary

__all__ = ["BINS", "ENOUGH", "First", "Held", "measure_probabilities"]

BINS = 10
ENOUGH = 2000  # fewest predictions of a relation or a structure that has figures of its own


@dataclass(frozen=True, slots=True)
class First:
    """The first prediction of each question."""

    said: float  # mean probability
    reliability: Reliability

    @property
    def right(self) -> float:
        """The share of questions whose first prediction is right."""
        return self.reliability.right / max(self.reliability.predictions, 1)

    def plain(self) -> dict[str, Any]:
        """Returns plain values."""
        surest = self.reliability.bins[-1]  # a tenth of them, since the bins are ten
        return {
            "questions": self.reliability.predictions,
            "mean_probability": self.said,
            "right": self.right,
            "ece": self.reliability.ece,
            "brier": self.reliability.brier,
            "base_brier": self.reliability.base_brier,
            "surest_tenth": {"mean_probability": surest.predicted, "right": surest.observed},
        }


@dataclass(frozen=True, slots=True)
class Held:
    """The figures of one group of questions: over their ten best predictions, and over the first ones."""

    best: Reliability
    first: First

    @classmethod
    def of(cls, judged: Judged) -> Held:
        """Measures predictions."""
        first = judged.first
        said = float(first.probability.mean()) if len(first) else 0.0
        return cls(
            reliability(judged.probability, judged.right, BINS),
            First(said, reliability(first.probability, first.right, BINS)),
        )

    def plain(self) -> dict[str, Any]:
        """Returns plain values."""
        return {"best": self.best.plain(), "first": self.first.plain()}


def measure_probabilities(judged: Mapping[str, Judged], vocabulary: Vocabulary) -> dict[str, Held]:
    """Measures the predictions of each structure: `all`, then structures and relations with `ENOUGH` predictions.

    Relations are measured on questions of one hop, both directions together, the most asked first.
    """
    everything = Judged.join(list(judged.values()))
    if not len(everything):
        return {}
    found = {"all": Held.of(everything)}
    if len(judged) > 1:
        found |= {name: Held.of(part) for name, part in judged.items() if len(part) >= ENOUGH}
    base = everything.relation >> 1  # -1 stays -1
    relations, counts = np.unique(base[base >= 0], return_counts=True)
    for relation, count in sorted(zip(relations.tolist(), counts.tolist(), strict=True), key=lambda pair: -pair[1]):
        if count >= ENOUGH:
            found[f"`{vocabulary.short_relation_label(2 * relation)}`"] = Held.of(everything.where(base == relation))
    return found
