"""MLP-Mixer: projection and intersection by mixing two vectors (Amayuelas et al. 2022, after Tolstikhin et al. 2021).

n rows, F forks, d embedding size.

    projection      q' = Mixer_p(q, r)
    intersection    q' = Mixer_i(x, y), pairwise from the left
    Dist(e, q) = |v_e - v_q|_1               `spaces.point`

What a Mixer is stands in `nn.mixer`: 1.60 M numbers each at d = 800. It has no negation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from pathformer.config import check_range
from pathformer.models._link_by_link import LinkModel
from pathformer.nn.combine import LeftFold
from pathformer.nn.mixer import Mixer
from pathformer.spaces.point import Point

__all__ = ["METHOD", "Config", "MLPMixer"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Source of each setting."""

    dim: int = 800  # d, reference code and this paper
    margin: float = 24.0  # gamma, reference code
    channels: int = 20  # of the signal after the 1x1 convolution, reference code
    blocks: int = 3  # reference code
    token_hidden: int = 200  # reference code
    channel_hidden: int = 4  # reference code
    start: Literal["table", "reference"] = "table"  # of the Mixers' first and last maps, ours: see `MLPMixer`

    def __post_init__(self) -> None:
        check_range(self, "dim", "channels", "blocks", "token_hidden", "channel_hidden", least=1)


class MLPMixer(LinkModel):
    """A model of two Mixers and two tables; entities start uniform in +-R (the reference code: at zero; silent here).

    start: beside biases of up to 0.7, a first map of torch's own weights hardly sees numbers of +-R = 26/800, and all
    first queries are about equal and far from every entity. "table" starts both maps for numbers of the tables' size.
    "reference" has torch's own weights.
    """

    name: ClassVar[str] = "mlp-mixer"
    config_type: ClassVar[type[Config]] = Config
    negation = False

    def __init__(self, config: Config, entities: int, relations: int) -> None:
        super().__init__(config, entities, relations)
        self.space = Point(config.dim, config.margin)
        self.entities, self.relations = self.space.entity_table(entities), self.space.relation_table(relations)
        self.projection, self.intersection = self._mixer(config), LeftFold(self._mixer(config))

    def project(self, rows: Tensor, relations: Tensor) -> Tensor:
        """Mixer_p(q, r): (n, d), (n, d) -> (n, d)."""
        moved: Tensor = self.projection(rows, relations)
        return moved

    def intersect(self, branches: Sequence[Tensor]) -> Tensor:
        """Mixer_i(Mixer_i(x1, x2), x3) ...: (n_1, d), (n_2, d), ... -> (F, d)."""
        met: Tensor = self.intersection(branches)
        return met

    def _mixer(self, config: Config) -> Mixer:
        return Mixer(
            config.dim,
            channels=config.channels,
            blocks=config.blocks,
            token_hidden=config.token_hidden,
            channel_hidden=config.channel_hidden,
            size=self.space.range / math.sqrt(3.0) if config.start == "table" else None,
        )


METHOD = MLPMixer
