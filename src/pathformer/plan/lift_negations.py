"""Moves a negation from the end of a path to the fork that reads the path.

    2in  Fork(Path(e, r), Path(e, r, [Negation]))   ->   Fork(Path(e, r), Path(e, r) negated)

A negated branch is then encoded like the same path anywhere else. Negations inside a path, or at the end of a path that
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
    """Returns the layout with fewer tokens, and which of its values are negated where a fork reads them: (V,).

    Paths of a step stay sorted by length, so their values may be numbered anew.
    """
    read = np.zeros(layout.values, bool)  # by a fork
    for step in layout.steps:
        if isinstance(step, ForkStep):
            read[np.concatenate(step.branches)] = True
    numbers = np.arange(layout.values)  # the new number of every value
    negated = np.zeros(layout.values, bool)
    steps: list[Step] = []
    for step in layout.steps:
        if isinstance(step, ForkStep):
            steps.append(replace(step, branches=tuple(numbers[branch] for branch in step.branches)))
            continue
        own = slice(step.first, step.first + len(step))
        made, order, odd = _lift_step(step, read[own], numbers)
        steps.append(made)
        numbers[own][order] = step.first + np.arange(len(step))
        negated[own] = odd[order]
    return replace(layout, steps=tuple(steps), roots=numbers[layout.roots]), negated


def _lift_step(step: PathStep, read: Flags, numbers: Ints) -> tuple[PathStep, Ints, Flags]:
    """Takes the negations off the end of the paths that a fork reads.

    Returns the step, the old number of each of its paths, and which old paths have lost an odd number of negations.
    """
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
    sources = np.where(kinds == Token.VARIABLE, numbers[np.where(kinds == Token.VARIABLE, sources, 0)], sources)
    return PathStep(step.first, lengths[order], kinds, sources), order, odd
