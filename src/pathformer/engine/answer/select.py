"""What is wanted of the answers, and which of what a search found that is.

K entities found. Known answers are all given. Of the others the nearest are, but for those of another kind: what has no
relation of those that stand in that place in the graph (`kinds`) is held back, and said to be. The search looks deeper
than `top` for their sake. Probabilities are fitted and judged on the same choice (`judge`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathformer.engine.answer.answer import check_share
from pathformer.engine.find.candidates import Candidates
from pathformer.errors import InputError

__all__ = ["Options", "Selection", "fitting", "looked_at", "select"]

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ranked = tuple[int, int]  # rank from 1, known answers first, and place among what was found

_DEEPER, _DEEPEST = 4, 1000  # so many times `top` are looked at for those of the right kind, so many more at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is wanted of the answers."""

    top: int = 10  # predicted answers; known ones are all given
    known: bool | None = None  # True: known ones alone, False: predicted ones alone
    min_probability: float | None = None
    why: bool = True
    any_kind: bool = False  # predict what is unlike all that stands in that place in the graph, too

    def __post_init__(self) -> None:
        if not isinstance(self.top, int | np.integer) or self.top < 0:
            raise InputError(f"top is a number of predicted answers, 0 or more, got {self.top!r}")
        if self.known not in (None, True, False):
            raise InputError(f"known is True, False or None (both kinds of answers), got {self.known!r}")
        if self.min_probability is not None:
            check_share("a probability", self.min_probability)


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """What is given of the candidates of a question, and what is not."""

    given: list[Ranked]
    held_back: list[Ranked]  # of another kind, and given if any kind were wanted
    left_out: str  # what `top` and `min_probability` hide of the predictions, in words


def looked_at(top: int) -> int:
    """How many of the nearest entities that are not known are looked at for `top` that fit."""
    return min(_DEEPER * top, top + _DEEPEST)


def fitting(found: Candidates, odd: Mask, top: int) -> Candidates:
    """The known answers and the `top` nearest others that are not odd (K,)."""
    return found.where(found.known | _first(found.predicted & ~odd, top))


def select(found: Candidates, odd: Mask, probabilities: Floats, options: Options, limit: int | None) -> Selection:
    """The candidates that are wanted; odd (K,): which are of another kind; limit: how many at most, known ones too."""
    nearest = found.known | _first(found.predicted, options.top)
    kept = nearest if options.any_kind else found.known | _first(found.predicted & ~odd, options.top)
    wanted = _wanted(found, probabilities, options)
    of_any_kind = [(rank, place) for rank, place in wanted if nearest[place]][:limit]
    return Selection(
        given=[(rank, place) for rank, place in wanted if kept[place]][:limit],
        held_back=[(rank, place) for rank, place in of_any_kind if not kept[place]],
        left_out=_left_out(probabilities[kept & found.predicted], options),
    )


def _first(mask: Mask, count: int) -> Mask:
    """The first `count` that a mask has."""
    return mask & (np.cumsum(mask) <= count)


def _wanted(found: Candidates, probabilities: Floats, options: Options) -> list[Ranked]:
    """Rank and place of the candidates that are wanted of any kind; a rank counts those that are not, too."""
    places = [*found.known.nonzero()[0].tolist(), *found.predicted.nonzero()[0].tolist()]
    return [
        (rank, place)
        for rank, place in enumerate(places, 1)
        if options.known in (None, bool(found.known[place]))
        and (options.min_probability is None or probabilities[place] >= options.min_probability)
    ]


def _left_out(probabilities: Floats, options: Options) -> str:
    if options.known is True:
        return ""
    if not options.top:
        return "no predictions were asked for"
    least = options.min_probability or 0.0
    hidden = probabilities[probabilities < least]
    if not len(hidden):
        return ""
    least, best = 100 * least, 100 * hidden.max()
    if len(hidden) == 1:
        return f"one prediction is less likely than {least:g} %: it has {best:.1f} %"
    return f"{len(hidden):,} predictions are less likely than {least:g} %, the best of them {best:.1f} %"
