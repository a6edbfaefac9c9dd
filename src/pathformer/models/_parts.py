"""What a Pathformer is put together from, by its settings: a space, an encoder of paths, a network for forks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from pathformer.nn.fold import LeftFold, MeanPair, MLPPair, SetFold, SumFold, WeighedFold
from pathformer.nn.mixer import Mixer
from pathformer.nn.transformer import TransformerEncoder
from pathformer.spaces import Space
from pathformer.spaces.beta import Beta
from pathformer.spaces.box import Box
from pathformer.spaces.hermitian import Hermitian
from pathformer.spaces.point import Point
from pathformer.spaces.sphere import Sphere

if TYPE_CHECKING:
    from pathformer.models.pathformer import Config

__all__ = ["SPACES", "encoder_of", "fork_of", "space_of"]

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
