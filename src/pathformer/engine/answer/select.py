"""Selects the answers to give from the candidates of a question.

K candidates. All known answers are given, and the nearest plausible predictions. Nearer predictions that are
implausible are hidden, and the answers say how many. Probabilities are fitted and judged on the same choice
(`Candidates.first_plausible`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.engine.answer.answers import check_share
from pathformer.engine.find.candidates import Candidates
from pathformer.errors import InputError

__all__ = ["Options", "Selection", "select"]

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ranked = tuple[int, int]  # rank from 1, known answers first, and position among the candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a question: which of its answers are given."""

    top: int = 10  # predicted answers; all known ones are given
    known: bool | None = None  # True: only known answers, False: only predicted ones
    min_probability: float | None = None
    why: bool = True
    any_kind: bool = False  # give implausible predictions, too

    def __post_init__(self) -> None:
        if not isinstance(self.top, int | np.integer) or self.top < 0:
            raise InputError(f"top must be a number of predicted answers, 0 or more, got {self.top!r}")
        if self.known not in (None, True, False):
            raise InputError(f"known must be True, False or None (all answers), got {self.known!r}")
        if self.min_probability is not None:
            check_share("a probability", self.min_probability)

    @property
    def predictions(self) -> int:
        """How many predicted answers are to be found."""
        return 0 if self.known is True else self.top


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """Which candidates of a question are given, and which are not."""

    given: list[Ranked]
    hidden: list[Ranked]  # implausible ones that `any_kind` would give
    left_out: str  # which predictions `top` and `min_probability` leave out, as a sentence


def select(candidates: Candidates, probabilities: Floats, options: Options, limit: int | None) -> Selection:
    """Selects the candidates to give; limit: how many at most, known ones included."""
    predicted = candidates.predicted
    nearest = candidates.known | _first(predicted, options.top)
    kept = nearest
    if not options.any_kind:
        kept = candidates.known | _first(predicted & ~candidates.implausible, options.top)
    wanted = _wanted(candidates, probabilities, options)
    of_any_kind = [(rank, position) for rank, position in wanted if nearest[position]][:limit]
    return Selection(
        given=[(rank, position) for rank, position in wanted if kept[position]][:limit],
        hidden=[(rank, position) for rank, position in of_any_kind if not kept[position]],
        left_out=_left_out(probabilities[kept & predicted], options),
    )


def _first(mask: Mask, count: int) -> Mask:
    """Keeps the first `count` entries of a mask that are true."""
    return mask & (np.cumsum(mask) <= count)


def _wanted(candidates: Candidates, probabilities: Floats, options: Options) -> list[Ranked]:
    """Returns the candidates, plausible or not, that `known` and `min_probability` admit; ranks count the others."""
    positions = [*candidates.known.nonzero()[0].tolist(), *candidates.predicted.nonzero()[0].tolist()]
    return [
        (rank, position)
        for rank, position in enumerate(positions, 1)
        if options.known in (None, bool(candidates.known[position]))
        and (options.min_probability is None or probabilities[position] >= options.min_probability)
    ]


def _left_out(probabilities: Floats, options: Options) -> str:
    if options.known is True:
        return ""
    if not options.top:
        return "No predictions were asked for."
    least = options.min_probability or 0.0
    low = probabilities[probabilities < least]
    if not len(low):
        return ""
    least, best = 100 * least, 100 * low.max()
    if len(low) == 1:
        return f"1 prediction is left out, because it is less likely than {least:g} % ({best:.1f} %)."
    return f"{len(low):,} predictions are left out, because they are less likely than {least:g} % (best: {best:.1f} %)."
