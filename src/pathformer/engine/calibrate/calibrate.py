"""Turns the distances of candidates into probabilities, and says which of these were measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.engine.calibrate.calibration import Calibration
from pathformer.engine.find.candidates import Candidates
from pathformer.kg.schema import RelationSchema
from pathformer.kg.vocabulary import Vocabulary
from pathformer.query.tree import Tree
from pathformer.symbolic.plausible import (
    find_impossible_link,
    find_unprecedented_link,
    say_impossible,
    say_unprecedented,
)

__all__ = ["Probabilities", "calibrate"]


@dataclass(frozen=True, eq=False, slots=True)
class Probabilities:
    """How likely the candidates of a question are, and how far that can be trusted."""

    values: npt.NDArray[np.float64]  # (K,) 1 for a known answer
    measured: npt.NDArray[np.bool_]  # (K,) whether held-out questions like this one stand behind the value
    doubt: str  # why none of the predictions was measured, if none was


def calibrate(
    candidates: Candidates, calibration: Calibration, schema: RelationSchema, vocabulary: Vocabulary
) -> Probabilities:
    """Returns the probability of every candidate."""
    doubt = _doubt(candidates.tree, calibration, schema, vocabulary)
    measured = candidates.known if doubt else ~candidates.implausible
    return Probabilities(calibration.probabilities(candidates), measured, doubt)


def _doubt(tree: Tree, calibration: Calibration, schema: RelationSchema, vocabulary: Vocabulary) -> str:
    """Returns why no held-out question like this one stands behind the probabilities, if none does."""
    if not calibration.fitted:
        return "These probabilities are defaults by rank: the graph had too few held-out facts to measure them."
    if link := find_impossible_link(tree, schema):
        return f"{say_impossible(link, vocabulary)} Predictions of this kind were never tested."
    if link := find_unprecedented_link(tree, schema):
        return f"{say_unprecedented(link, vocabulary)} Predictions of this kind were hardly tested."
    return ""
