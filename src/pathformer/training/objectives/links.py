"""ComplEx's objective: which entity ends a link, which relation joins its ends, and factors that stay small.

B links, K targets a link at most.

    -sum_k t_k log p(a_k | h, r)  +  w log-loss of p(r | h, a)  +  l (sum |h|^3 + |r|^3 + |a|^3)

t is uniform over the answers, as in `softmax`; a is one of them. Both softmaxes are over all there are.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pathformer.errors import ConfigError
from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.models.complex import ComplEx
from pathformer.nn.cross_entropy import product_cross_entropy
from pathformer.spaces.hermitian import between, cubes, multiply
from pathformer.training.data import Drawn
from pathformer.training.objectives._base import Needs, Objective

__all__ = ["OBJECTIVE", "Links"]


class Links(Objective):
    """For link predictors: `models.complex`."""

    @property
    def needs(self) -> Needs:
        """Answers as targets."""
        return Needs(targets=self.config.softmax.targets)

    def losses(self, network: Model, batch: Batch, drawn: Drawn) -> Tensor:
        """One loss a link, (B,)."""
        if not isinstance(network, ComplEx):
            raise ConfigError(f"the objective 'links' is complex's own; {network.name} can be trained by softmax")
        assert drawn.targets is not None
        assert drawn.shares is not None
        network.check(batch.layout)
        settings, smoothing = network.config, self.config.softmax.smoothing
        entities, operators = network.entities.read(), network.operators.read()
        anchors, relations = network.links(batch, drawn.ids)
        ends = torch.cat([anchors, drawn.candidates[:, 0]])
        heads, tails = entities.rows(ends).chunk(2)  # read at once, so that their gradient is written at once
        links = operators.rows(relations)
        loss = product_cross_entropy(multiply(heads, links), entities.weight, drawn.targets, drawn.shares, smoothing)
        if settings.relation:
            share = torch.ones_like(drawn.shares[:, :1])
            joined = product_cross_entropy(
                between(heads, tails), operators.weight, relations[:, None], share, smoothing
            )
            loss = loss + settings.relation * joined
        return loss + settings.n3 * (cubes(heads) + cubes(links) + cubes(tails)) if settings.n3 else loss


OBJECTIVE = Links
