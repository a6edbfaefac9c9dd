"""An MLP-Mixer that turns two vectors into one (Tolstikhin et al. 2021, in the form of the MLP-Mixer baseline).

n pairs, d embedding size, C channels. The two vectors are two channels of a signal of length d; a 1x1 convolution makes
them C; blocks mix along the signal, then along the channels; the channels' mean goes through a last linear map.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

__all__ = ["Mixer"]


_GROWTH = 6.0  # of the last map's weights, for numbers of size 1 in and out


class Mixer(nn.Module):
    """The whole network, with exact GELU and LayerNorms without parameters over both axes.

    size: the deviation of the numbers that come in, if it is far from 1. The first map then starts as it would for
    numbers of size 1, beside its biases, and the last one so that it gives numbers of that size. None: torch's own
    initial weights.
    """

    def __init__(
        self,
        dim: int,
        *,
        channels: int = 20,
        blocks: int = 3,
        token_hidden: int = 200,
        channel_hidden: int = 4,
        size: float | None = None,
    ) -> None:
        super().__init__()
        self.spread = nn.Linear(2, channels)  # a 1x1 convolution
        self.blocks = nn.ModuleList(_Block(dim, channels, token_hidden, channel_hidden) for _ in range(blocks))
        self.out = nn.Linear(dim, dim)
        if size is not None:
            with torch.no_grad():
                self.spread.weight.div_(size)
                for parameter in self.out.parameters():
                    parameter.mul_(_GROWTH * size)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Mixes two vectors into one: two (n, d) -> (n, d)."""
        signal = self.spread(torch.stack([left, right], dim=-1))  # (n, d, C)
        for block in self.blocks:
            signal = block(signal)
        mixed: Tensor = self.out(_norm(signal).mean(dim=-1))
        return mixed


class _Block(nn.Module):
    def __init__(self, dim: int, channels: int, token_hidden: int, channel_hidden: int) -> None:
        super().__init__()
        self.tokens = nn.Sequential(nn.Linear(dim, token_hidden), nn.GELU(), nn.Linear(token_hidden, dim))
        self.channels = nn.Sequential(
            nn.Linear(channels, channel_hidden), nn.GELU(), nn.Linear(channel_hidden, channels)
        )

    def forward(self, signal: Tensor) -> Tensor:
        """(n, d, C) -> (n, d, C)."""
        signal = signal + self.tokens(_norm(signal).transpose(1, 2)).transpose(1, 2)
        mixed: Tensor = signal + self.channels(_norm(signal))
        return mixed


def _norm(signal: Tensor) -> Tensor:
    return F.layer_norm(signal, signal.shape[1:])
