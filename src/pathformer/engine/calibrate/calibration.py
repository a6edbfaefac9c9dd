"""From distances to probabilities: how often predictions like this one were right on questions held out for it.

Questions of four kinds have a curve each (`curve`): single links and longer questions, each with and without a known
answer. A single link that has an answer rarely lacks another, one that has none lacks one for sure, and distances of
longer questions mean something else; one curve for all told the ends of single links far too low (docs/calibration.md).
Where too few questions of a kind were held out, those of all single links, or of all longer questions, stand in, and
for these all questions.

What a probability is of: that the answer is among the facts that the graph lacks, if it lacks such a share of them as
was held out. Half of the questions it is fitted on have an answer that is missing, half are drawn whether they have one
or not: nobody knows which kind the next one is. `docs/calibration.md` says what follows from that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.engine.calibrate.curve import Curve
from pathformer.engine.find.candidates import Candidates
from pathformer.files.manifest import wrong_field
from pathformer.query.tree import Anchor, Projection

__all__ = ["Calibration"]

_ALL = "all"
_ENOUGH = 500  # predictions that a curve of some questions is fitted on, at least: about fifty questions


@dataclass(frozen=True, eq=False)
class Calibration:
    """Fitted curves, by the kind of question that each is of."""

    curves: Mapping[str, Curve]  # of all questions, and of those kinds that there were enough of

    @classmethod
    def none(cls) -> Calibration:
        """Where too little was held out: a mere habit."""
        return cls({_ALL: Curve.none()})

    @classmethod
    def fit(cls, found: Sequence[Candidates], right: Sequence[npt.NDArray[np.bool_]]) -> Calibration:
        """Fit on held-out queries: what was found for each, and which of its predictions were right, (P,) a query."""
        groups: dict[str, list[int]] = {}
        for place, one in enumerate(found):
            for kind in _groups(one):
                groups.setdefault(kind, []).append(place)
        curves = {_ALL: Curve.fit(found, right)}
        for kind, places in groups.items():
            if kind != _ALL and sum(len(right[place]) for place in places) >= _ENOUGH:
                curve = Curve.fit([found[place] for place in places], [right[place] for place in places])
                if curve.fitted:
                    curves[kind] = curve
        return cls(curves)

    @property
    def predictions(self) -> int:
        """How many it was fitted on; 0: not fitted, the default."""
        return self.curves[_ALL].predictions

    @property
    def fitted(self) -> bool:
        """Whether held-out queries stand behind it."""
        return self.predictions > 0

    def probabilities(self, found: Candidates) -> npt.NDArray[np.float64]:
        """Returns how likely each candidate is an answer, (K,): 1 if it is known.

        Implausible predictions are not counted: the others are as likely as if these were not there, and the
        probability of an implausible one lies between those of its neighbours.
        """
        kind = next(kind for kind in _groups(found) if kind in self.curves)
        return self.curves[kind].probabilities(found, found.implausible)

    def to_json(self) -> dict[str, Any]:
        """As plain values; `from_json` reads them back."""
        return {"curves": {kind: curve.to_json() for kind, curve in self.curves.items()}}

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Calibration:
        """What `to_json` gave; ValueError for anything else."""
        if problem := wrong_field(table, {"curves": "an object"}):
            raise ValueError(problem)
        if problem := wrong_field(table["curves"], dict.fromkeys({_ALL, *table["curves"]}, "an object")):
            raise ValueError(problem)
        return cls({kind: Curve.from_json(curve) for kind, curve in table["curves"].items()})


def _groups(found: Candidates) -> tuple[str, ...]:
    """The kinds of question that one belongs to, the narrowest first."""
    match found.tree:
        case Projection(_, Anchor()):
            length = "a link"
        case _:
            length = "more links"
    return f"{length}, {'some' if found.known.any() else 'nothing'} known", length, _ALL
