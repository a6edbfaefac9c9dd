"""How far an engine's probabilities hold: for all predictions, for each relation and structure, and for first ones.

n predictions with probability p and truth y (1 right, 0 wrong); ECE in `BINS` bins of equal mass. Of few predictions
the ECE is above 0 however true the probabilities are: beside it stands the mean ECE of outcomes drawn from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.engine.calibrate.reliability import Bin, Reliability, reliability
from pathformer.evaluation.predictions import Judged
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.rates import Rates

__all__ = ["BINS", "ENOUGH", "Group", "Held", "measure_probabilities"]

BINS = 10
ENOUGH = 2000  # fewest predictions of a relation that has figures of its own
_DRAWS = 50


@dataclass(frozen=True, slots=True)
class Group:
    """Some predictions: how likely they were said to be, and what turned out."""

    said: float  # mean probability
    reliability: Reliability
    chance: float  # mean ECE if the probabilities were true
    table_brier: float | None = None  # Brier score of the engine's table of rates, where it has one for all of these

    @classmethod
    def of(cls, judged: Judged, rates: Rates | None) -> Group:
        """Measures predictions."""
        shown = reliability(judged.probability, judged.right, BINS)
        brier = None
        if rates is not None and (judged.relation >= 0).all():
            brier = float(((rates.probabilities(judged.relation, judged.rank) - judged.right) ** 2).mean())
        return cls(float(judged.probability.mean()), shown, _chance(judged.probability), brier)

    @property
    def right(self) -> float:
        """The share of right predictions."""
        return self.reliability.right / self.reliability.predictions

    @property
    def surest(self) -> Bin:
        """The tenth of the predictions with the largest probabilities: the bins are ten."""
        return self.reliability.bins[-1]

    def plain(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "mean_probability": self.said,
            "share_right": self.right,
            "surest_tenth": {"mean_probability": self.surest.predicted, "right": self.surest.observed},
            "ece_by_chance": self.chance,
            "table_brier": self.table_brier,
            **self.reliability.plain(),
        }


def _chance(probabilities: npt.NDArray[np.float64]) -> float:
    """Returns the mean ECE of outcomes drawn from probabilities (n,)."""
    draw, p = np.random.default_rng(0), np.sort(probabilities)
    bins = np.array_split(np.arange(len(p)), BINS)
    gaps = [abs(float((draw.random(len(one)) < p[one]).sum() - p[one].sum())) for _ in range(_DRAWS) for one in bins]
    return sum(gaps) / (_DRAWS * len(p))


@dataclass(frozen=True, slots=True)
class Held:
    """The figures of one group of questions: over their ten best predictions, and over the first ones."""

    best: Group
    first: Group

    @classmethod
    def of(cls, judged: Judged, rates: Rates | None) -> Held:
        """Measures predictions; rates: of single links, to compare them with."""
        return cls(Group.of(judged, rates), Group.of(judged.first, rates))

    def plain(self) -> dict[str, Any]:
        """Returns plain values."""
        return {"best": self.best.plain(), "first": self.first.plain()}


def measure_probabilities(
    judged: Mapping[str, Judged], vocabulary: Vocabulary, rates: Rates | None = None
) -> dict[str, Held]:
    """Measures all predictions, then those of each structure and of each relation with `ENOUGH` predictions.

    Relations are measured on questions of one hop, both directions together, the most asked first.
    """
    everything = Judged.join(list(judged.values()))
    if not len(everything):
        return {}
    found = {"all": Held.of(everything, rates)}
    if len(judged) > 1:
        found |= {name: Held.of(part, rates) for name, part in judged.items() if len(part)}
    base = everything.relation >> 1  # -1 stays -1
    relations, counts = np.unique(base[base >= 0], return_counts=True)
    for relation, count in sorted(zip(relations.tolist(), counts.tolist(), strict=True), key=lambda pair: -pair[1]):
        if count >= ENOUGH:
            found[f"`{vocabulary.short_relation_label(2 * relation)}`"] = Held.of(
                everything.where(base == relation), rates
            )
    return found
