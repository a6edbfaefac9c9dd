"""What a Pathformer is put together from, by its settings: a space, an encoder of paths, a network for forks.

What a path is worth without a transformer: its start times its relations, complex number by complex number.

P paths, n rows that meet an operator, q numbers of a query: q / 2 real and then q / 2 imaginary parts.

    x <- x r        a relation: in the space `hermitian`, a single link is then scored as by ComplEx
    x <- c x        [Negation]; c is learned and below 0 at first, so that at a sum of branches the answers lose

The value before each further relation is first read as an entity that is expected there:

    x <- E[v_e],  e with probability softmax(-Dist(e, x))

and, where relations have domains w_r, as an entity that the next relation leaves: softmax(-Dist(e, x) + <w_r, v_e>).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from pathformer.models._walk import Walk, follow
from pathformer.nn.fold import LeftFold, MeanPair, MLPPair, SetFold, SumFold, WeighedFold
from pathformer.nn.mixer import Mixer
from pathformer.nn.transformer import TransformerEncoder
from pathformer.spaces._base import Space
from pathformer.spaces.beta import Beta
from pathformer.spaces.box import Box
from pathformer.spaces.hermitian import Hermitian, multiply
from pathformer.spaces.point import Point
from pathformer.spaces.sphere import Sphere

if TYPE_CHECKING:
    from pathformer.models.pathformer import Config

__all__ = ["SPACES", "Composition", "encoder_of", "fork_of", "space_of"]

SPACES: dict[str, type[Space]] = {
    "point": Point,
    "box": Box,
    "beta": Beta,
    "sphere": Sphere,
    "hermitian": Hermitian,
}
_SMALL = 0.01  # a gain at which the encoder is hardly heard beside a base


def space_of(config: Config) -> Space:
    """Where its points lie."""
    own = {"temperature": config.temperature, "learned": config.learn_temperature} if config.space == "sphere" else {}
    width = config.dim // 2 if config.space == "hermitian" else config.dim
    return SPACES[config.space](width, config.margin, **own)


def encoder_of(config: Config, beside: float) -> TransformerEncoder:
    """TrmE_k1 of one parameter; beside: see `Space.beside_margin`."""
    c, d = config, config.dim
    return TransformerEncoder(
        d,
        c.layers,
        c.heads,
        c.hidden * d,
        dropout=c.dropout,
        norm=c.norm,
        positions=c.positions,
        window=c.window,
        causal=c.attention == "causal",
        bias=c.bias,
        scale=c.scale,
        gain={"margin": beside, "one": 1.0, "small": _SMALL}[c.gain],
    )


def fork_of(config: Config) -> nn.Module:
    """MLP_k2 and what stands in its place, where the space has no intersection of its own."""
    d, hidden = config.dim, [size * config.dim for size in config.fork_hidden]
    match config.fork:
        case "mlp":
            return LeftFold(MLPPair(d, hidden))
        case "mlp2vector":
            return LeftFold(MeanPair(MLPPair(d, hidden), MLPPair(d, hidden)))
        case "mixer":
            return LeftFold(Mixer(d))
        case "set":
            return SetFold(d)
        case "weighed":
            return WeighedFold(d)
        case "both":
            return SumFold(d, config.fork_dropout)


Expect = Callable[[Tensor, Tensor | None], Tensor]
_COMPLEMENT = -0.5  # c at first


class Composition(nn.Module):
    """The product along each path."""

    def __init__(self, negation: bool) -> None:
        super().__init__()
        self.complement = nn.Parameter(torch.tensor([_COMPLEMENT])) if negation else None  # c

    def forward(
        self, walk: Walk, starts: Tensor, chain: Tensor, expect: Expect, domains: Tensor | None = None
    ) -> Tensor:
        """Starts (P, q), relations of all hops (., q) -> (P, q); expect: rows (n, q) as entities (n, q).

        domains: w_r of the same relations (., q), which `expect` is given with the rows.
        """
        width = chain.shape[1]

        def first(rows: Tensor, relations: Tensor) -> Tensor:
            return multiply(rows, relations[:, :width])

        def onward(rows: Tensor, relations: Tensor) -> Tensor:
            return first(expect(rows, None if domains is None else relations[:, width:]), relations)

        links = chain if domains is None else torch.cat([chain, domains], dim=1)
        return follow(walk, starts, links, (first, self.negate), (onward, self.negate))

    def negate(self, rows: Tensor) -> Tensor:
        """c x."""
        assert self.complement is not None
        return rows * self.complement
