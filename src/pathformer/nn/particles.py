"""Networks over small sets of vectors, the particles of Query2Particles.

n sets, k particles of one, d size. Nothing here depends on the order of a set's particles.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

__all__ = ["GatedHop", "Rounds", "SharedAttention"]


class SharedAttention(nn.Module):
    """S(X) = softmax(U U^T / sqrt(d)) U with U = X W + b: one map for query, key and value, one head, no residual."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.map = nn.Linear(dim, dim)

    def forward(self, particles: Tensor) -> Tensor:
        """(n, k, d) -> (n, k, d)."""
        seen = self.map(particles)  # U
        weights = (torch.bmm(seen, seen.transpose(1, 2)) / math.sqrt(seen.shape[-1])).softmax(dim=-1)  # (n, k, k)
        return torch.bmm(weights, seen)


class Rounds(nn.Module):
    """Several rounds of X = LN(S(X)), X = LN(F(X) + X), which share S and F but no LN.

    F(X) = Linear, GELU, Linear of size d > d > d, with dropout before both.
    """

    def __init__(self, dim: int, rounds: int, dropout: float) -> None:
        super().__init__()
        self.attention = SharedAttention(dim)
        self.forward_net = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(dim, dim), nn.GELU(), nn.Dropout(dropout), nn.Linear(dim, dim)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2 * rounds))

    def forward(self, particles: Tensor) -> Tensor:
        """(n, k, d) -> (n, k, d)."""
        for first, second in zip(self.norms[::2], self.norms[1::2], strict=True):
            particles = first(self.attention(particles))
            particles = second(self.forward_net(particles) + particles)
        return particles


class GatedHop(nn.Module):
    """A relation r moves each particle p by a gated unit, then the particles see each other.

        z = s(Wz r + Uz p)   k = s(Wr r + Ur p)   h = tanh(Wh r + Uh (k * p))   p' = (1 - z) * p + z * h
        X = LN(S(drop(LN(X'))))

    Dropout on r and on p inside each gate. Biases belong to the W; a second one in the U would add nothing.
    """

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.relation = nn.Linear(dim, 3 * dim)  # Wz, Wr, Wh
        self.gates = nn.Linear(dim, 2 * dim, bias=False)  # Uz, Ur
        self.candidate = nn.Linear(dim, dim, bias=False)  # Uh
        self.dropout = nn.Dropout(dropout)
        self.attention = SharedAttention(dim)
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2))

    def forward(self, particles: Tensor, relations: Tensor) -> Tensor:
        """(n, k, d), (n, d) -> (n, k, d)."""
        update, reset, candidate = self.relation(self.dropout(relations))[:, None].chunk(3, dim=-1)  # each (n, 1, d)
        of_update, of_reset = self.gates(self.dropout(particles)).chunk(2, dim=-1)
        gate = torch.sigmoid(update + of_update)  # z
        kept = torch.sigmoid(reset + of_reset) * particles  # k * p
        moved = torch.tanh(candidate + self.candidate(self.dropout(kept)))  # h
        particles = torch.lerp(particles, moved, gate)
        seen: Tensor = self.norms[1](self.attention(self.dropout(self.norms[0](particles))))
        return seen
