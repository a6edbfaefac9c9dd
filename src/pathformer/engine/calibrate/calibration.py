"""Turns distances into probabilities: how often predictions like this one were right on held-out questions.

There is a curve (`curve`) for each of four kinds of questions: single links and longer questions, each with and without
a known answer. A single link that has an answer rarely lacks another one, a single link that has none surely lacks one,
and the distances of longer questions mean something else. Where too few questions of a kind were held out, the curve of
all single links or of all longer questions is used, and where these are too few the curve of all questions.

A probability says how likely the answer is among the facts that the graph lacks, if the graph lacks as large a share of
them as was held out. Half of the questions that a curve is fitted on have a missing answer; the other half are drawn
whether they have one or not, because nobody knows which kind the next question is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathformer.engine.calibrate.curve import Curve
from pathformer.engine.find.candidates import Candidates
from pathformer.files.fields import wrong_field
from pathformer.kg.schema import RelationSchema
from pathformer.kg.vocabulary import Vocabulary
from pathformer.links.calibration import LinkCalibration
from pathformer.query.tree import Anchor, Projection, Tree
from pathformer.symbolic.plausible import (
    find_impossible_link,
    find_unprecedented_link,
    say_impossible,
    say_unprecedented,
)

__all__ = ["Calibration", "Probabilities", "calibrate"]

_ALL = "all"
_ENOUGH = 500  # fewest predictions that the curve of a kind is fitted on: about fifty questions


@dataclass(frozen=True, eq=False)
class Calibration:
    """Fitted curves by kind of question."""

    curves: Mapping[str, Curve]  # for all questions, and for the kinds with enough of them

    @classmethod
    def none(cls) -> Calibration:
        """Returns the defaults by rank, for a graph where too little was held out."""
        return cls({_ALL: Curve.none()})

    @classmethod
    def fit(cls, found: Sequence[Candidates], right: Sequence[npt.NDArray[np.bool_]]) -> Calibration:
        """Fits on held-out queries: the candidates of each, and which of its predictions were right, (P,) a query."""
        groups: dict[str, list[int]] = {}
        for place, one in enumerate(found):
            for kind in _kinds_of(one):
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
        """How many predictions the calibration was fitted on; 0 for the defaults."""
        return self.curves[_ALL].predictions

    @property
    def fitted(self) -> bool:
        """Whether the calibration was fitted on held-out queries."""
        return self.predictions > 0

    def probabilities(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Returns how likely each candidate is an answer, (K,): 1 if it is known.

        Implausible predictions are not counted: the others are as likely as if these were not there, and the
        probability of an implausible one lies between those of its neighbours.
        """
        kind = next(kind for kind in _kinds_of(candidates) if kind in self.curves)
        return self.curves[kind].probabilities(candidates, candidates.implausible)

    def to_json(self) -> dict[str, Any]:
        """Returns plain values; `from_json` reads them back."""
        return {"curves": {kind: curve.to_json() for kind, curve in self.curves.items()}}

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Calibration:
        """Reads what `to_json` returned; ValueError for anything else."""
        if problem := wrong_field(table, {"curves": "an object"}):
            raise ValueError(problem)
        if problem := wrong_field(table["curves"], dict.fromkeys({_ALL, *table["curves"]}, "an object")):
            raise ValueError(problem)
        return cls({kind: Curve.from_json(curve) for kind, curve in table["curves"].items()})


@dataclass(frozen=True, eq=False, slots=True)
class Probabilities:
    """How likely the candidates of a question are, and how far that can be trusted."""

    values: npt.NDArray[np.float64]  # (K,) 1 for a known answer
    measured: npt.NDArray[np.bool_]  # (K,) whether held-out questions like this one stand behind the value
    doubt: str  # why none of the predictions was measured, if none was


def calibrate(
    candidates: Candidates,
    calibration: Calibration,
    schema: RelationSchema,
    vocabulary: Vocabulary,
    links: LinkCalibration | None = None,
) -> Probabilities:
    """Returns the probability of every candidate.

    links: what the candidates' own probabilities are from, where they have them.
    """
    own = candidates.probabilities
    fitted = calibration.fitted if own is None or links is None else links.fitted_on > 0
    doubt = _doubt(candidates.tree, schema, vocabulary, fitted=fitted)
    measured = candidates.known if doubt else ~candidates.implausible
    return Probabilities(calibration.probabilities(candidates) if own is None else own, measured, doubt)


def _doubt(tree: Tree, schema: RelationSchema, vocabulary: Vocabulary, *, fitted: bool) -> str:
    """Returns why no held-out question like this one stands behind the probabilities, if none does."""
    if not fitted:
        return "These probabilities are defaults by rank: the graph had too few held-out facts to measure them."
    if link := find_impossible_link(tree, schema):
        return f"{say_impossible(link, vocabulary)} Predictions of this kind were never tested."
    if link := find_unprecedented_link(tree, schema):
        return f"{say_unprecedented(link, vocabulary)} Predictions of this kind were hardly tested."
    return ""


def _kinds_of(candidates: Candidates) -> tuple[str, ...]:
    """Returns the kinds of questions that the candidates' question belongs to, the narrowest first."""
    match candidates.tree:
        case Projection(_, Anchor()):
            length = "a link"
        case _:
            length = "more links"
    return f"{length}, {'some' if candidates.known.any() else 'nothing'} known", length, _ALL
