"""The transformer encoder TrmE of Eq. 3, over packed sequences.

P sequences, T rows, L tokens, d embedding size, H heads, d_ffn hidden size, k_1 layers.

Processor and card run the same code: each of its operations (`enter`, `add_norm`, `relu_dropout`, attention) is plain
torch, or one fused kernel on a CUDA device. So biases and dropout stand in the calls that can fuse them, and not in
`nn.Linear` and `nn.Dropout`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from pathformer.nn.attention import SelfAttention
from pathformer.nn.backend import is_fused
from pathformer.nn.dropout import Noise
from pathformer.nn.mlp import linear
from pathformer.nn.packing import Packing
from pathformer.nn.positions import sinusoidal

__all__ = ["SideBySide", "TransformerEncoder", "add_norm", "enter", "relu_dropout"]

_EPSILON = 1e-6  # of every LayerNorm, as in the sister model
_TABLE = 64  # sinusoidal rows that are kept; longer sequences make a longer table


class TransformerEncoder(nn.Module):
    """k_1 layers of self-attention and feed-forward, each with dropout, a residual and a LayerNorm."""

    positions: Tensor | None

    def __init__(
        self,
        dim: int,
        layers: int,
        heads: int,
        hidden: int,
        *,
        dropout: float = 0.1,
        norm: Literal["pre", "post"] = "pre",
        positions: Literal["absolute", "relative", "none"] = "absolute",
        window: int = 8,
        causal: bool = False,
        bias: bool = True,
        scale: bool = True,
        gain: float = 1.0,
        residual_start: float = 1.0,
    ) -> None:
        """`scale` multiplies the input by sqrt(d); `gain` is the initial gain of the last LayerNorm.

        residual_start: the maps whose outputs are added to the residual start with this share of their usual weights.
        """
        super().__init__()
        if layers < 1:
            raise ValueError(f"an encoder has at least one layer, got {layers}")
        self.dropout, self.norm = dropout, norm
        self.scale = math.sqrt(dim) if scale else 1.0
        self.layers = nn.ModuleList(
            _Layer(dim, heads, hidden, causal=causal, bias=bias, window=window if positions == "relative" else None)
            for _ in range(layers)
        )
        self.final = nn.LayerNorm(dim, eps=_EPSILON) if norm == "pre" else None
        table = sinusoidal(_TABLE, dim) if positions == "absolute" else None
        self.register_buffer("positions", table, persistent=False)
        nn.init.constant_(self._last_norm().weight, gain)
        with torch.no_grad():
            for layer in self.layers:
                assert isinstance(layer, _Layer)
                layer.attention.out.weight.mul_(residual_start)
                layer.contract.weight.mul_(residual_start)

    def forward(self, rows: Tensor, packing: Packing) -> Tensor:
        """rows (T, d), embedded tokens -> (T, d), contextual tokens."""
        noise = Noise(self.dropout if self.training else 0.0, 1 + 4 * len(self.layers), rows)
        rows = enter(rows, self._positions(packing), packing, self.scale, noise)
        return self._pre(rows, packing, noise) if self.norm == "pre" else self._post(rows, packing, noise)

    def _pre(self, rows: Tensor, packing: Packing, noise: Noise) -> Tensor:
        """x += drop(Attention(LN x)), x += drop(FFN(LN x)); one more LN at the end."""
        layers = [layer for layer in self.layers if isinstance(layer, _Layer)]
        following = [layer.norm1 for layer in layers[1:]] + [self._last_norm()]
        _, normed = add_norm(rows, None, None, layers[0].norm1, noise)
        for layer, after in zip(layers, following, strict=True):
            mixed = layer.attention(normed, packing, noise)
            rows, normed = add_norm(rows, mixed, layer.attention.out.bias, layer.norm2, noise)
            fed = layer.feed(normed, noise)
            rows, normed = add_norm(rows, fed, layer.contract.bias, after, noise)
        return normed

    def _post(self, rows: Tensor, packing: Packing, noise: Noise) -> Tensor:
        """x = LN(x + drop(Attention(x))), x = LN(x + drop(FFN(x)))."""
        for layer in self.layers:
            assert isinstance(layer, _Layer)
            mixed = layer.attention(rows, packing, noise)
            _, rows = add_norm(rows, mixed, layer.attention.out.bias, layer.norm1, noise)
            _, rows = add_norm(rows, layer.feed(rows, noise), layer.contract.bias, layer.norm2, noise)
        return rows

    def _last_norm(self) -> nn.LayerNorm:
        last = self.layers[-1]
        assert isinstance(last, _Layer)
        return last.norm2 if self.final is None else self.final

    def _positions(self, packing: Packing) -> Tensor | None:
        if self.positions is None:
            return None
        if packing.longest > len(self.positions):
            table = sinusoidal(packing.longest, self.positions.shape[1])
            self.positions = table.to(self.positions)
        return self.positions


class SideBySide(nn.Module):
    """Several encoders that share no weights: encoder k reads and writes columns k d .. (k + 1) d."""

    def __init__(self, encoders: Sequence[nn.Module]) -> None:
        super().__init__()
        self.encoders = nn.ModuleList(encoders)

    def forward(self, rows: Tensor, packing: Packing) -> Tensor:
        """rows (T, k d) -> (T, k d)."""
        columns = rows.chunk(len(self.encoders), dim=-1)
        parts = [encoder(own.contiguous(), packing) for encoder, own in zip(self.encoders, columns, strict=True)]
        return torch.cat(parts, dim=-1)


class _Layer(nn.Module):
    """The weights of one layer."""

    def __init__(self, dim: int, heads: int, hidden: int, *, causal: bool, bias: bool, window: int | None) -> None:
        super().__init__()
        self.attention = SelfAttention(dim, heads, causal=causal, bias=bias, window=window)
        self.expand = nn.Linear(dim, hidden)
        self.contract = nn.Linear(hidden, dim)
        self.norm1 = nn.LayerNorm(dim, eps=_EPSILON)
        self.norm2 = nn.LayerNorm(dim, eps=_EPSILON)
        for layer in (self.expand, self.contract):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def feed(self, rows: Tensor, noise: Noise) -> Tensor:
        """FFN(x) = W_2 drop(relu(W_1 x + b_1)); b_2 is added with the residual."""
        hidden = relu_dropout(linear(rows, self.expand.weight), self.expand.bias, noise)
        return linear(hidden, self.contract.weight)


def enter(rows: Tensor, positions: Tensor | None, packing: Packing, scale: float, noise: Noise) -> Tensor:
    """drop(scale x + PE), the first layer's input: rows (T, d), positions (at least L, d) -> (T, d)."""
    if is_fused(rows):
        from pathformer.nn.kernels.dropout import enter as kernel

        return kernel(rows, positions, packing.positions, scale, noise.rate, noise.seed())
    if scale != 1.0:
        rows = rows * scale
    if positions is not None:
        rows = rows + positions[packing.positions]
    return noise.drop(rows)


def add_norm(
    rows: Tensor, update: Tensor | None, bias: Tensor | None, norm: nn.LayerNorm, noise: Noise
) -> tuple[Tensor, Tensor]:
    """s = x + drop(update + bias) and LN(s), both (T, d); without an update s = x."""
    if is_fused(rows):
        from pathformer.nn.kernels.norm import add_norm as kernel

        seed = noise.seed() if update is not None else None
        return kernel(rows, update, bias, norm.weight, norm.bias, norm.eps, noise.rate, seed)
    if update is not None:
        rows = rows + noise.drop(update if bias is None else update + bias)
    return rows, norm(rows)


def relu_dropout(values: Tensor, bias: Tensor, noise: Noise) -> Tensor:
    """drop(relu(values + bias)). values (T, d_ffn) -> (T, d_ffn)."""
    if is_fused(values):
        from pathformer.nn.kernels.dropout import relu_dropout as kernel

        return kernel(values, bias, noise.rate, noise.seed())
    return noise.drop(torch.relu(values + bias))
