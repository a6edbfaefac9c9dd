"""Query2Particles: a query is a small set of vectors, each near some of its answers (Bai et al., NAACL findings 2022).

n rows, F forks, m branches, P particles, d embedding size.

    anchor          x_e + o_p, P learnt offsets
    first hop       the gated hop along r
    later hops      one round X = LN(S(X)), X = LN(F(X) + X), then the same gated hop
    negation        two such rounds
    intersection    all m P particles together, two rounds, then P of them are kept: those at 0, m, 2m, ...
    union           all particles of all branches
    Dist(e, q)      = -(max_p <p, x_e> + b_e)            `spaces.particles`
    loss            = cross-entropy over all entities    the objective `softmax`

The union of the published method keeps every branch's particles, each branch projected on its own where a projection
follows. An entity's score is then its best over all of them, and so the best over the disjuncts of the normal form: the
same number. That is why `union` is "dnf" here; the tests compare the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pathformer.config import check_range
from pathformer.models._link_by_link import LinkModel
from pathformer.nn.combine import by_arity
from pathformer.spaces.particles import Particles

__all__ = ["METHOD", "Q2P", "Config", "GatedHop", "Rounds", "SharedAttention"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Source of each setting: the official code's scripts, for FB15k-237 (NELL995 in brackets)."""

    dim: int = 400  # d of a particle; a query is P d = 800 numbers, and the paper's row is the published one
    particles: int = 2  # P
    dropout: float = 0.1  # (0.3); with offsets that start at 0 it alone parts the particles of an anchor

    spread: float = 0.1  # of the tables at first; ours, 1 in the official code: see `Q2P`

    def __post_init__(self) -> None:
        check_range(self, "dim", "particles", least=1)
        check_range(self, "dropout", least=0, below=1)
        check_range(self, "spread", above=0)


class Q2P(LinkModel):
    """A model of four networks over particles and two tables.

    spread: particles leave a LayerNorm, so with standard normal entities scores differ by sqrt(d) = 20 at first, and a
    softmax over them is sure of something wrong for every query. A tenth of that learns at once: on UMLS (d = 32) after
    500 updates 1p MRR is 66.8 in place of 19.7. The numbers are trained as before.
    """

    name: ClassVar[str] = "q2p"
    config_type: ClassVar[type[Config]] = Config
    objective: ClassVar[str] = "softmax"

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        d, dropout = config.dim, config.dropout
        self.space: Particles = Particles(d, config.particles, config.spread)
        self.entities, self.relations = self.space.entity_table(entities), self.space.relation_table(relations)
        self.hop = GatedHop(d, dropout)
        self.before = Rounds(d, 1, dropout)  # of a hop that is not the first
        self.complement = Rounds(d, 2, dropout)
        self.meeting = Rounds(d, 2, dropout)

    def enter(self, entities: Tensor, relations: Tensor) -> Tensor:
        """Follows the first relation: (n, d + 1), (n, d) -> (n, P d)."""
        moved: Tensor = self.hop(self.space.split(self.space.anchor(entities)), relations)
        return moved.flatten(1)

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """Follows a later relation: (n, P d), (n, d) -> (n, P d)."""
        moved: Tensor = self.hop(self.before(self.space.split(rows)), relations)
        return moved.flatten(1)

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """Intersects forks of equal arity at once: (n_1, P d), (n_2, P d), ... -> (F, P d)."""
        return torch.cat([self._meet(self.space.split(group)) for group in by_arity(branches)])

    def negate(self, rows: Tensor) -> Tensor:
        """(n, P d) -> (n, P d)."""
        turned: Tensor = self.complement(self.space.split(rows))
        return turned.flatten(1)

    def _meet(self, sets: Tensor) -> Tensor:
        """Intersects m sets of particles: (n, m, P, d) -> (n, P d)."""
        arity = sets.shape[1]
        seen: Tensor = self.meeting(sets.flatten(1, 2))  # (n, m P, d)
        return seen[:, ::arity].flatten(1)


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


METHOD = Q2P
