"""Pathformer on arrays: what `models.pathformer` says of directions, with forks free of order.

n paths of L tokens, F forks, d embedding size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pathformer.encoders.blocks import Floats, PathEncoder, SetFold, Weights
from pathformer.plan.encoder import Combine
from pathformer.plan.layout import EqualPaths
from pathformer.plan.measure import Measure

__all__ = ["METHOD", "Pathformer", "Settings"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of `models.pathformer`, with the values that numpy knows; of several any will do."""

    dim: int
    margin: float
    space: Literal["sphere"]
    space_settings: Mapping[str, bool | float | str]
    combine: Combine
    layers: int
    heads: int
    hidden: int
    dropout: float
    positions: Literal["absolute"]
    window: int
    attention: Literal["bidirectional"]
    norm: Literal["pre"]
    bias: Literal[True]
    scale: bool
    gain: Literal["margin", "one"]
    residual_start: float
    fork: Literal["set"]
    fork_hidden: tuple[int, ...]
    fork_start: Literal["mean", "random"]
    expected_variables: Literal[False]


class Pathformer:
    """A path encoder, a fork network and two tables; the operators' table ends with the token [Negation]."""

    settings_type = Settings
    lifts = False

    def __init__(self, settings: Settings, weights: Weights) -> None:
        self.settings, self.combine = settings, settings.combine
        self.measure = Measure("cosine", scale=float(np.exp(weights["space.log_scale"])))
        self.entities, self.operators = weights["entities.weight"], weights["operators.weight"]
        scale = math.sqrt(settings.dim) if settings.scale else 1.0
        self._encoder = PathEncoder.of(weights, "paths", layers=settings.layers, heads=settings.heads, scale=scale)
        self._fork = SetFold.of(weights, "forks")

    def paths(
        self, group: EqualPaths, ids: npt.NDArray[np.int32], bank: Floats, roots: npt.NDArray[np.bool_]
    ) -> Floats:
        """E_pq of paths of one length, started by anchors or by values of the bank (V, d) -> (n, d)."""
        sources = group.sources[:, 0]
        starts = self.entities[ids[sources]] if group.anchored else bank[sources]
        return self._encoder(np.concatenate([starts[:, None], self.operators[group.operators(ids)]], axis=1))

    def forks(self, branches: Sequence[Floats], denied: Sequence[npt.NDArray[np.bool_]] | None) -> Floats:
        """E_v: (n_1, d), (n_2, d), ... -> (F, d); negations stand in paths, so none is denied here."""
        return self._fork(branches)


METHOD = Pathformer
