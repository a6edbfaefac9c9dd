"""Cross-entropy: a query's probability over entities, softmax of minus the distance, against its answers.

B queries, N entities, K targets a query at most, u drawn entities.

    p(e | q) = exp(-Dist(e; q)) / sum_e' exp(-Dist(e'; q))         loss = -sum_k t_k log p(a_k | q)

t is uniform over the query's answers, or over a window of K of them that moves from draw to draw, so that every answer
is a target equally often. A temperature is the space's own matter (`spaces.sphere` learns one). Where distances are
minus inner products, up to a constant a query, all N of them cost one matrix product; other spaces measure every
entity.

In a space of complex numbers two terms of ComplEx's own objective (`links`) can be added:

    N3:        l sum |x|^3 over the rows of anchors, relations and one answer each, in the mean over all queries
    relation:  w log-loss of p(r | h, a), softmax over all relations, for the queries that are single links
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from pathformer.errors import ConfigError
from pathformer.models._base import Model
from pathformer.models._batch import Batch, Paths
from pathformer.nn.cross_entropy import cross_entropy, product_cross_entropy
from pathformer.nn.table import Reading, Table
from pathformer.plan.layout import Layout
from pathformer.query.structures import STRUCTURES
from pathformer.spaces.hermitian import Hermitian, between, cubes
from pathformer.training.data import Drawn
from pathformer.training.objectives._base import Needs, Objective
from pathformer.training.settings import SoftmaxOptions

__all__ = ["OBJECTIVE", "Softmax"]


class Softmax(Objective):
    """Over all entities, or over one answer and u drawn non-answers."""

    @property
    def needs(self) -> Needs:
        """Targets over all entities, negatives over drawn ones."""
        options = self.config.softmax
        if options.entities == "all":
            return Needs(targets=options.targets)
        return Needs(negatives=self.config.negatives, filtered=self.config.filtered)

    def losses(self, network: Model, batch: Batch, drawn: Drawn) -> Tensor:
        """One loss a query, (B,)."""
        queries, entities = network.points(batch, drawn.ids)
        among = self._drawn if drawn.targets is None else self._all
        loss, options = among(network, batch, drawn, queries, entities), self.config.softmax
        if options.n3 or options.relation:
            loss = loss + _factor_losses(network, batch, drawn, entities, options)
        return loss

    def _all(self, network: Model, batch: Batch, drawn: Drawn, queries: Tensor, entities: Reading) -> Tensor:
        assert drawn.targets is not None
        assert drawn.shares is not None
        smoothing = self.config.softmax.smoothing
        products = None if batch.layout.united else network.space.products(queries, entities.weight)
        more = None if drawn.removed is None else self._more(drawn.removed)
        if products is not None:
            return product_cross_entropy(*products, drawn.targets, drawn.shares, smoothing, more)
        distances = batch.smallest(network.space.distance_to_all(queries, entities.weight).float())  # (B, N)
        return cross_entropy(-distances, drawn.targets, drawn.shares, smoothing, more)

    def _more(self, removed: Tensor) -> tuple[Tensor, Tensor]:
        """Returns what negations remove, and how much more often it counts. (B, R) -> two (B, R)."""
        return removed.clamp(min=0), (removed >= 0) * self.config.softmax.removed_weight

    def _drawn(self, network: Model, batch: Batch, drawn: Drawn, queries: Tensor, entities: Reading) -> Tensor:
        """Drawn non-answers stand for all: each counts (N - 1) / u times in the sum, so p means the same."""
        distances = network.distances_from(batch, queries, entities, drawn.candidates)  # (B, 1 + u)
        more = math.log(max(1.0, (network.entity_count - 1) / self.config.negatives))
        logits = torch.cat([-distances[:, :1], more - distances[:, 1:]], dim=1)
        first = torch.zeros_like(drawn.candidates[:, :1])
        share = torch.ones_like(logits[:, :1])
        return cross_entropy(logits, first, share, self.config.softmax.smoothing)


def _factor_losses(network: Model, batch: Batch, drawn: Drawn, entities: Reading, options: SoftmaxOptions) -> Tensor:
    """Returns both terms, one loss for each query, (B,). `entities` is the table as the queries were read from it."""
    operators = getattr(network, "operators", None)
    if not isinstance(network.space, Hermitian) or not isinstance(operators, Table):
        raise ConfigError(
            f"softmax.n3 and softmax.relation are of complex numbers: space 'hermitian', not that of {network.name}"
        )
    table, queries = operators.read(), len(drawn.answers)
    losses = torch.zeros(queries, device=drawn.ids.device)
    if options.n3:
        losses = losses + options.n3 * _cubes(batch, drawn, entities, table) / queries
    for first, count, begin in _single(batch.layout) if options.relation else ():
        anchors, relations = drawn.ids[begin : begin + 2 * count].view(count, 2).unbind(dim=1)
        ends = torch.cat([anchors, drawn.candidates[first : first + count, 0]])
        joined = between(*entities.rows(ends).chunk(2))  # (n, 2 r)
        share = torch.ones(count, 1, device=ends.device)
        links = table.weight[: network.relation_count]  # without [Negation]
        loss = product_cross_entropy(joined, links, relations[:, None], share)
        before, after = losses.new_zeros(first), losses.new_zeros(queries - first - count)
        losses = losses + options.relation * torch.cat([before, loss, after])
    return losses


def _cubes(batch: Batch, drawn: Drawn, entities: Reading, operators: Reading) -> Tensor:
    """Returns sum |x|^3 over all rows that the queries of a batch name: ()."""
    anchors = [step.entity_sources for step in batch.steps if isinstance(step, Paths)]
    relations = [walk.relation_sources for walk in batch.walks if walk is not None]
    named = torch.cat([drawn.ids.index_select(0, torch.cat(anchors)), drawn.candidates[:, 0]])
    links = drawn.ids.index_select(0, torch.cat(relations))
    return cubes(entities.rows(named)).sum() + cubes(operators.rows(links)).sum()


def _single(layout: Layout) -> list[tuple[int, int, int]]:
    """Returns the blocks of single links: first query, number of queries, position of their first id."""
    found, query, position = [], 0, 0
    for block in layout.blocks:
        if block.structure == STRUCTURES["1p"]:
            found.append((query, block.count, position))
        query += block.count
        position += block.count * len(block.structure.columns)
    return found


OBJECTIVE = Softmax
