"""Logistic regression, and the rising steps that make its probabilities exact.

n observations with truth y (1 or 0), F columns of a design.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["fit_steps", "logistic", "pool_adjacent_violators", "regress"]

Floats = npt.NDArray[np.float64]

_ROUNDS = 50  # of Newton's method; it needs about seven
_POOL = 50  # observations that a step holds at least, so that one lucky one makes no step


def logistic(z: Floats) -> Floats:
    """Returns 1 / (1 + exp(-z))."""
    probability: Floats = 1.0 / (1.0 + np.exp(-np.clip(z, -40.0, 40.0)))
    return probability


def regress(design: Floats, truth: Floats, ridge: Floats) -> Floats:
    """Minimises -log likelihood + 1/2 sum_f ridge_f w_f^2 by Newton's method: (n, F), (n,), (F,) -> w (F,).

    The last column is the bias: it starts where the mean is right.
    """
    weights = np.zeros(design.shape[1])
    weights[-1] = np.log(truth.mean() / (1 - truth.mean()))
    for _ in range(_ROUNDS):
        p = logistic(design @ weights)
        gradient = design.T @ (p - truth) + ridge * weights
        curvature = (design * (p * (1 - p))[:, None]).T @ design + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step / max(1.0, float(np.abs(step).max()))  # far out Newton's steps overshoot
        if np.abs(step).max() < 1e-8:
            break
    return weights


def fit_steps(z: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """Returns where probabilities step, and their levels, both rising.

    Neighbours are pooled first, so that each level rests on enough of them.
    """
    order = np.argsort(z, kind="stable")
    pools = np.array_split(order, max(1, len(order) // _POOL))
    centres = np.array([z[pool].mean() for pool in pools])
    base = truth.mean()  # where few are right, half an observation in each pool would lift all the lowest levels
    rates = np.array([(truth[pool].sum() + base) / (len(pool) + 1) for pool in pools])  # never quite 0 or 1
    sizes = np.array([len(pool) for pool in pools], np.float64)
    levels, counts = pool_adjacent_violators(rates, sizes)
    ends = np.cumsum(counts)
    steps = np.add.reduceat(centres * sizes, ends - counts) / np.add.reduceat(sizes, ends - counts)
    return steps, levels


def pool_adjacent_violators(values: Floats, weights: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The rising sequence nearest to `values` in weighted squares: its levels, and how many values each replaces."""
    levels: list[float] = []
    masses: list[float] = []
    counts: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        level, mass, count = value, weight, 1
        while levels and levels[-1] >= level:
            before, more = levels.pop(), masses.pop()
            level, mass, count = (level * mass + before * more) / (mass + more), mass + more, count + counts.pop()
        levels.append(level)
        masses.append(mass)
        counts.append(count)
    return np.array(levels), np.array(counts, np.int64)
