"""The networks of `nn` on arrays: no gradients, no dropout, no torch. Each block takes its weights by torch's names.

P paths of one length, L tokens, d embedding size, H heads, D = d / H; F forks, n rows; i numbers in, o numbers out.

Branches come as in `nn.combine`: branch r of every fork that has one, forks of most branches first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt

__all__ = ["Complement", "Floats", "PathEncoder", "SetFold", "SumFold", "WeighedFold", "Weights", "softmax"]

Floats = npt.NDArray[np.float32]
Weights = Mapping[str, Floats]

_INSIDE, _ALONE = 1e-6, 1e-5  # epsilon of a LayerNorm inside a transformer, and of one without weights
_LONGEST_RATE = math.log(10000.0)  # of the sinusoids


def softmax(logits: Floats) -> Floats:
    """exp l / sum exp l over the last axis, in place."""
    logits -= logits.max(axis=-1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=-1, keepdims=True)
    return logits


def _normalise(rows: Floats, epsilon: float = _ALONE) -> Floats:
    """(x - mean) / sqrt(variance + epsilon) over the last axis: a LayerNorm without weights."""
    centred = rows - rows.mean(axis=-1, keepdims=True)
    scaled: Floats = centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(epsilon))
    return scaled


@dataclass(frozen=True, eq=False, slots=True)
class _Linear:
    """x W^T + b: (..., i) -> (..., o)."""

    weight: Floats  # (o, i)
    bias: Floats  # (o,)

    @classmethod
    def of(cls, weights: Weights, name: str) -> Self:
        return cls(weights[f"{name}.weight"], weights[f"{name}.bias"])

    def __call__(self, rows: Floats) -> Floats:
        product: Floats = rows @ self.weight.T
        product += self.bias
        return product


@dataclass(frozen=True, eq=False, slots=True)
class _Perceptron:
    """_Linear maps with ReLU between them: (..., i) -> (..., o)."""

    layers: tuple[_Linear, ...]

    @classmethod
    def of(cls, weights: Weights, name: str, layers: int) -> Self:
        return cls(tuple(_Linear.of(weights, f"{name}.linears.{number}") for number in range(layers)))

    def __call__(self, rows: Floats) -> Floats:
        for number, layer in enumerate(self.layers):
            rows = layer(np.maximum(rows, 0.0) if number else rows)
        return rows


@dataclass(frozen=True, eq=False, slots=True)
class _Norm:
    gain: Floats  # (d,)
    shift: Floats  # (d,)

    @classmethod
    def of(cls, weights: Weights, name: str) -> Self:
        return cls(weights[f"{name}.weight"], weights[f"{name}.bias"])

    def __call__(self, rows: Floats) -> Floats:
        return _normalise(rows, _INSIDE) * self.gain + self.shift


@dataclass(frozen=True, eq=False, slots=True)
class _Layer:
    """x += Attention(LN x), x += FFN(LN x)."""

    norm1: _Norm
    qkv: _Linear
    out: _Linear
    norm2: _Norm
    expand: _Linear
    contract: _Linear

    @classmethod
    def of(cls, weights: Weights, name: str) -> Self:
        return cls(
            _Norm.of(weights, f"{name}.norm1"),
            _Linear.of(weights, f"{name}.attention.qkv"),
            _Linear.of(weights, f"{name}.attention.out"),
            _Norm.of(weights, f"{name}.norm2"),
            _Linear.of(weights, f"{name}.expand"),
            _Linear.of(weights, f"{name}.contract"),
        )

    def __call__(self, rows: Floats, heads: int) -> Floats:
        rows = rows + self.out(self._attend(self.norm1(rows), heads))
        return rows + self.contract(np.maximum(self.expand(self.norm2(rows)), 0.0))

    def _attend(self, rows: Floats, heads: int) -> Floats:
        """softmax(Q K^T / sqrt(D)) V by head: (P, L, d) -> (P, L, d)."""
        paths, length, dim = rows.shape
        parts = self.qkv(rows).reshape(paths, length, 3, heads, dim // heads)
        query, key, value = parts.transpose(2, 0, 3, 1, 4)  # (P, H, L, D)
        shares = softmax(query @ key.transpose(0, 1, 3, 2) * np.float32((dim // heads) ** -0.5))  # (P, H, L, L)
        mixed: Floats = (shares @ value).transpose(0, 2, 1, 3).reshape(rows.shape)
        return mixed


@dataclass(frozen=True, eq=False, slots=True)
class PathEncoder:
    """MP(TrmE(x)), Eq. 3: a transformer with absolute positions and LayerNorms first, and the mean of its tokens."""

    layers: tuple[_Layer, ...]
    last: _Norm
    heads: int
    scale: float  # of the tokens

    @classmethod
    def of(cls, weights: Weights, name: str, *, layers: int, heads: int, scale: float = 1.0) -> Self:
        """Takes its weights by their names."""
        made = tuple(_Layer.of(weights, f"{name}.layers.{number}") for number in range(layers))
        return cls(made, _Norm.of(weights, f"{name}.final"), heads, scale)

    def __call__(self, tokens: Floats) -> Floats:
        """(P, L, d) -> (P, d)."""
        rows = tokens * np.float32(self.scale) + _sinusoidal(*tokens.shape[1:])
        for layer in self.layers:
            rows = layer(rows, self.heads)
        pooled: Floats = self.last(rows).mean(axis=1)
        return pooled


@lru_cache(maxsize=64)
def _sinusoidal(length: int, dim: int) -> Floats:
    """PE(t, 2i) = sin(t / 10000^(2i/d)), PE(t, 2i + 1) = cos of the same angle: (length, dim)."""
    angles = np.arange(length)[:, None] * np.exp(np.arange(0, dim, 2) * (-_LONGEST_RATE / dim))
    table = np.empty((length, dim), np.float32)
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)[:, : dim // 2]
    return table


@dataclass(frozen=True, eq=False, slots=True)
class SetFold:
    """rho(mean_i phi(x_i) (+) max_i phi(x_i)): branches in any order."""

    each: _Perceptron  # phi
    all: _Perceptron  # rho

    @classmethod
    def of(cls, weights: Weights, name: str) -> Self:
        """Takes its weights by their names."""
        return cls(_Perceptron.of(weights, f"{name}.each", 1), _Perceptron.of(weights, f"{name}.all", 2))

    def __call__(self, branches: Sequence[Floats]) -> Floats:
        """(n_1, d), (n_2, d), ... -> (F, d)."""
        first, *others = _split(np.maximum(self.each(np.concatenate(branches)), 0.0), branches)
        total, largest, arity = first.copy(), first.copy(), np.ones((len(first), 1), np.float32)
        for part in others:
            total[: len(part)] += part
            np.maximum(largest[: len(part)], part, out=largest[: len(part)])
            arity[: len(part)] += 1
        return self.all(np.concatenate([total / arity, largest], axis=1))


@dataclass(frozen=True, eq=False, slots=True)
class WeighedFold:
    """sum_i exp(w(LN x_i)) x_i: branches, each with a weight of its own."""

    weight: _Perceptron  # w

    @classmethod
    def of(cls, weights: Weights, name: str) -> Self:
        """Takes its weights by their names."""
        return cls(_Perceptron.of(weights, f"{name}.weight", 2))

    def __call__(self, branches: Sequence[Floats]) -> Floats:
        """(n_1, d), (n_2, d), ... -> (F, d)."""
        rows = np.concatenate(branches)
        first, *others = _split(rows * np.exp(self.weight(_normalise(rows))), branches)
        total = first.copy()
        for part in others:
            total[: len(part)] += part
        return total


@dataclass(frozen=True, eq=False, slots=True)
class SumFold:
    """A `WeighedFold` plus a `SetFold` of LN x_1, LN x_2, ..."""

    sum: WeighedFold
    more: SetFold

    @classmethod
    def of(cls, weights: Weights, name: str) -> Self:
        """Takes its weights by their names."""
        return cls(WeighedFold.of(weights, f"{name}.sum"), SetFold.of(weights, f"{name}.more"))

    def __call__(self, branches: Sequence[Floats]) -> Floats:
        """(n_1, d), (n_2, d), ... -> (F, d)."""
        return self.sum(branches) + self.more([_normalise(branch) for branch in branches])


@dataclass(frozen=True, eq=False, slots=True)
class Complement:
    """-c x + f(x): what a denied branch adds."""

    share: Floats  # c (1,)
    more: _Perceptron  # f

    @classmethod
    def of(cls, weights: Weights, name: str) -> Self:
        """Takes its weights by their names."""
        return cls(weights[f"{name}.share"], _Perceptron.of(weights, f"{name}.more", 2))

    def __call__(self, rows: Floats) -> Floats:
        """(n, d) -> (n, d)."""
        return self.more(rows) - self.share * rows


def _split(rows: Floats, branches: Sequence[Floats]) -> list[Floats]:
    """Cuts joined rows into parts as long as the branches."""
    return np.split(rows, np.cumsum([len(branch) for branch in branches[:-1]]))
