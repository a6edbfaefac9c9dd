"""Points to tune an index by: some of those that are given, or made-up ones.

S points, N entities; e, q numbers of an entity, a point; f of both as they are compared.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pathformer.errors import DivergedError, InputError
from pathformer.index._measure import Measure

__all__ = ["chosen_points", "made_up"]

_POINTS = 256
_BETWEEN = {"l1": 2, "cosine": 2, "inner": 8, "space": 2}  # entities; inner products with few of them are too easy


def chosen_points(entities: Tensor, measure: Measure, points: Tensor | None) -> Tensor | None:
    """At most 256 of the points (some, q), evenly spaced, as they are compared: (S, f).

    None, for `made_up` ones, where none are given; but where queries are something else than entities, those that a
    space makes of entities.
    """
    if points is None:
        if measure.space is None:
            return None
        points = measure.space.anchor(made_up(entities, measure, 0))
    width = measure.width(entities.shape[1])
    if points.ndim != 2 or points.shape[1] != width or not len(points):
        raise InputError(f"points to tune by have the shape {tuple(points.shape)}, expected (at least one, {width})")
    if not bool(torch.isfinite(points).all()):
        raise DivergedError("a point to tune by holds numbers that are not finite: nothing is near it")
    some = torch.linspace(0, len(points) - 1, min(_POINTS, len(points))).round().long()
    return measure.points(points.detach()[some.to(points.device)]).cpu()


def made_up(entities: Tensor, measure: Measure, seed: int) -> Tensor:
    """Means of a few entities: a question's point lies between its answers, near none of them. (N, e) -> (256, e)."""
    draws = torch.Generator().manual_seed(seed)
    some = torch.randint(len(entities), (_POINTS, _BETWEEN[measure.metric]), generator=draws).to(entities.device)
    return entities[some].float().mean(dim=1)
