"""Composed on arrays: what `models.composed` says, a path at a time in all its hops.

n paths of L tokens, F forks, N entities, d numbers of a query (d / 2 real, then d / 2 imaginary parts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pathformer.encoders.blocks import Complement, Floats, PathEncoder, SumFold, WeighedFold, Weights, softmax
from pathformer.plan.encoder import Combine
from pathformer.plan.layout import EqualPaths
from pathformer.plan.measure import Measure

__all__ = ["METHOD", "Composed", "Settings"]

_NUMBERS = 1 << 23  # probabilities of entities at once


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of `models.composed`, without those that only training reads; numpy knows all of their values."""

    dim: int
    layers: int
    heads: int
    hidden: int
    dropout: float
    bare_path_length: int
    add_to: Literal["paths", "answers"]
    sharpness: float
    domains: bool
    fork: Literal["sum", "network"]
    fork_dropout: float
    deny_in: Literal["path", "fork"]


class Composed:
    """The tables of a link predictor, domains of relations, a path encoder and a fork network."""

    settings_type = Settings
    combine: Combine = "smallest"
    measure = Measure("inner")

    def __init__(self, settings: Settings, weights: Weights) -> None:
        self.settings = settings
        self.entities, self.operators = weights["entities.weight"], weights["operators.weight"]
        self._domains = weights["domains.weight"] if settings.domains else None
        self._negation_factor = weights["negation_factor"]  # c (1,)
        self._encoder = PathEncoder.of(weights, "paths", layers=settings.layers, heads=settings.heads)
        self._fork = (WeighedFold if settings.fork == "sum" else SumFold).of(weights, "forks")
        self._complement = Complement.of(weights, "complement") if settings.deny_in == "fork" else None
        self.lifts = self._complement is not None

    def paths(
        self, group: EqualPaths, ids: npt.NDArray[np.int32], bank: Floats, roots: npt.NDArray[np.bool_]
    ) -> Floats:
        """Encodes paths of one length: values of the bank (V, d) start them, roots (n,) feed no fork -> (n, d)."""
        sources, operators = group.sources[:, 0], group.operators(ids)
        hops = operators.shape[1]
        if group.anchored:
            starts = self.entities[ids[sources]]
        elif not hops:
            return bank[sources]  # a path without operators is its variable
        else:
            starts = self._expected(self._towards(bank[sources], operators[:, 0]))
        rows = starts
        for hop in range(hops):
            rows = self._move(rows, operators[:, hop], further=hop > 0)
        if hops > self.settings.bare_path_length:
            rows = self._add(rows, starts, operators, roots)
        return rows

    def forks(self, branches: Sequence[Floats], denied: Sequence[npt.NDArray[np.bool_]] | None) -> Floats:
        """Joins branches: (n_1, d), (n_2, d), ... -> (F, d); denied: which rows, where forks take negations."""
        if self._complement is None or denied is None:
            return self._fork(branches)
        rows = [branch.copy() for branch in branches]
        for branch, marked in zip(rows, denied, strict=True):
            branch[marked] = self._complement(branch[marked])
        return self._fork(rows)

    def _add(
        self, rows: Floats, starts: Floats, operators: npt.NDArray[np.integer], roots: npt.NDArray[np.bool_]
    ) -> Floats:
        """x + MP(TrmE(E_in)), for all paths or for answers alone: (n, d) -> (n, d)."""
        chosen = roots if self.settings.add_to == "answers" else np.ones_like(roots)
        if chosen.any():
            tokens = np.concatenate([starts[chosen, None], self.operators[operators[chosen]]], axis=1)
            rows[chosen] += self._encoder(tokens)
        return rows

    def _move(self, rows: Floats, operators: npt.NDArray[np.integer], *, further: bool) -> Floats:
        """Moves rows by one operator each: x <- x r, of the expected entity if it is not the first, or x <- c x."""
        linked = operators >= 0
        moved = rows * self._negation_factor
        if linked.any():
            start, relations = rows[linked], operators[linked]
            if further:
                start = self._expected(self._towards(start, relations))
            moved[linked] = _multiply(start, self.operators[relations])
        return moved

    def _towards(self, rows: Floats, operators: npt.NDArray[np.integer]) -> Floats:
        """x + w_r / s: rows on their way to the domains of the relations that follow."""
        if self._domains is None:
            return rows
        linked = operators >= 0
        moved = rows.copy()
        moved[linked] += self._domains[operators[linked]] / np.float32(self.settings.sharpness)
        return moved

    def _expected(self, rows: Floats) -> Floats:
        """sum_e p(e) v_e,  p = softmax(s <x, v_e>): (n, d) -> (n, d)."""
        expected = np.empty_like(rows)
        at_once = max(1, _NUMBERS // len(self.entities))
        for first in range(0, len(rows), at_once):
            part = slice(first, first + at_once)
            sharp: Floats = rows[part] * np.float32(self.settings.sharpness)
            expected[part] = softmax(sharp @ self.entities.T) @ self.entities
        return expected


def _multiply(one: Floats, other: Floats) -> Floats:
    """Multiplies complex numbers one by one: (n, d) and (n, d) -> (n, d)."""
    a, b = np.split(one, 2, axis=-1)
    c, d = np.split(other, 2, axis=-1)
    return np.concatenate([a * c - b * d, a * d + b * c], axis=-1)


METHOD = Composed
