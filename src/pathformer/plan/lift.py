"""Negations out of the paths that end with one, where a fork reads them: the fork is told instead.

    2in  Fork(Path(e, r), Path(e, r, [Negation]))   ->   Fork(Path(e, r), Path(e, r) negated)

So a negated branch is read as the same path would be anywhere else. Negations inside a path, or at the end of one that
no fork reads, stay where they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pathformer.plan.layout import ForkStep, Ints, Layout, PathStep, Step, Token

__all__ = ["lift_negations"]

Flags = npt.NDArray[np.bool_]


def lift_negations(layout: Layout) -> tuple[Layout, Flags]:
    """The layout with fewer tokens, and which of its values are negated where a fork reads them: (V,).

    Paths of a step stay sorted by their length, so they, and with them their values, may change places.
    """
    read = np.zeros(layout.values, bool)  # by a fork
    for step in layout.steps:
        if isinstance(step, ForkStep):
            read[np.concatenate(step.branches)] = True
    places = np.arange(layout.values)  # the new number of every value
    negated = np.zeros(layout.values, bool)
    steps: list[Step] = []
    for step in layout.steps:
        if isinstance(step, ForkStep):
            steps.append(replace(step, branches=tuple(places[branch] for branch in step.branches)))
            continue
        own = slice(step.first, step.first + len(step))
        made, order, odd = _lifted(step, read[own], places)
        steps.append(made)
        places[own][order] = step.first + np.arange(len(step))
        negated[own] = odd[order]
    return replace(layout, steps=tuple(steps), roots=places[layout.roots]), negated


def _lifted(step: PathStep, read: Flags, places: Ints) -> tuple[PathStep, Ints, Flags]:
    """A step without the negations at the end of the paths that a fork reads, the old place of each of its paths, and
    which of the old ones have lost an odd number of them."""
    lengths, odd = step.lengths.copy(), np.zeros(len(step), bool)
    while True:
        last = step.kinds[step.offsets[:-1] + lengths - 1]
        ends = read & (lengths > 1) & (last == Token.NEGATION)
        if not ends.any():
            break
        lengths[ends] -= 1
        odd ^= ends
    order = np.argsort(-lengths, kind="stable")
    starts = np.repeat(step.offsets[:-1][order], lengths[order])
    ends_at = np.cumsum(lengths[order])
    within = np.arange(int(ends_at[-1])) - np.repeat(ends_at - lengths[order], lengths[order])
    kinds, sources = step.kinds[starts + within], step.sources[starts + within]
    sources = np.where(kinds == Token.VARIABLE, places[np.where(kinds == Token.VARIABLE, sources, 0)], sources)
    return PathStep(step.first, lengths[order], kinds, sources), order, odd
