"""ComplEx's objective: which entity ends a link, which relation joins its ends, and factors that stay small.

B links, K targets a link at most.

    -sum_k t_k log p(a_k | h, r)  +  w log-loss of p(r | h, a)  +  l (sum |h|^3 + |r|^3 + |a|^3)

t is uniform over the answers, as in `softmax`; a is one of them. Both softmaxes are over all there are.

With M members the numbers of every row fall into M parts, each a link predictor with softmaxes of its own, and the loss
is their mean. A member's score is M times what its part adds to the whole, so the whole is the mean of their scores:
errors that they do not share cancel, which one link predictor of all the numbers cannot do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from pathformer.errors import ConfigError
from pathformer.models import Batch, Model
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
        count = settings.members
        answers = partial(product_cross_entropy, targets=drawn.targets, shares=drawn.shares, smoothing=smoothing)
        loss = _mean(answers, multiply(heads, links), entities.weight, count)
        if settings.relation:
            share = torch.ones_like(drawn.shares[:, :1])
            joins = partial(product_cross_entropy, targets=relations[:, None], shares=share, smoothing=smoothing)
            loss = loss + settings.relation * _mean(joins, between(heads, tails), operators.weight, count)
        return loss + settings.n3 * (cubes(heads) + cubes(links) + cubes(tails)) if settings.n3 else loss


def _mean(loss: Callable[[Tensor, Tensor], Tensor], queries: Tensor, rows: Tensor, count: int) -> Tensor:
    """The mean of the losses of all members: queries (B, 2 r), rows (N, 2 r) -> (B,)."""
    if count == 1:
        return loss(queries, rows)
    pairs = zip(_parts(queries, count), _parts(rows, count), strict=True)
    return torch.stack([loss(count * left, right) for left, right in pairs]).mean(dim=0)


def _parts(rows: Tensor, count: int) -> tuple[Tensor, ...]:
    """Of r complex numbers, r / M for each member: (n, 2 r) -> M of (n, 2 r / M)."""
    numbers = rows.unflatten(1, (2, count, -1)).permute(2, 0, 1, 3)  # (M, n, 2, r / M)
    parts: tuple[Tensor, ...] = numbers.flatten(2).unbind(0)
    return parts


OBJECTIVE = Links
