"""Positions of tokens: sinusoidal (absolute), or relative to each other.

L tokens, d embedding size, D head size, w window.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

__all__ = ["RelativePositions", "sinusoidal"]


def sinusoidal(length: int, dim: int) -> Tensor:
    """Vaswani et al.: PE(t, 2i) = sin(t / 10000^(2i/d)), PE(t, 2i + 1) = cos of the same angle. (length, dim)."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    rate = torch.exp(torch.arange(0, dim, 2, dtype=torch.float64) * (-math.log(10000.0) / dim))
    table = torch.zeros(length, dim, dtype=torch.float64)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)[:, : dim // 2]
    return table.float()


class RelativePositions(nn.Module):
    """Shaw et al. 2018: a vector for each signed distance j - i, clipped to [-w, w], shared by the heads of one layer.

    Keys enter the scores, e_ij = q_i (k_j + a^K_ij) / sqrt(D) (their Eq. 4), and values the sums,
    z_i = sum_j alpha_ij (v_j + a^V_ij) (their Eq. 3).
    """

    def __init__(self, head_dim: int, window: int) -> None:
        super().__init__()
        self.window = window
        self.keys = nn.Parameter(torch.empty(2 * window + 1, head_dim))  # a^K
        self.values = nn.Parameter(torch.empty(2 * window + 1, head_dim))  # a^V
        nn.init.xavier_uniform_(self.keys)
        nn.init.xavier_uniform_(self.values)

    def distances(self, length: int) -> tuple[Tensor, Tensor]:
        """Returns a^K and a^V of the signed distances -(length - 1) ... length - 1, each (2 length - 1, D)."""
        signed = torch.arange(1 - length, length, device=self.keys.device)
        rows = signed.clamp(-self.window, self.window) + self.window
        return self.keys.index_select(0, rows), self.values.index_select(0, rows)
