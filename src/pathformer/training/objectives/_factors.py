"""Two terms of ComplEx's objective (`links`) for any queries over complex rows.

B queries, n of them single links.

    N3:        l sum |x|^3 over the rows of anchors, relations and one answer each, in the mean over all queries
    relation:  w log-loss of p(r | h, a), softmax over all relations, for the queries that are single links
"""

from __future__ import annotations

import torch
from torch import Tensor

from pathformer.errors import ConfigError
from pathformer.models._base import Model
from pathformer.models._batch import Batch, Paths
from pathformer.nn.softmax import product_cross_entropy
from pathformer.nn.table import Reading, Table
from pathformer.plan.layout import Layout
from pathformer.query.structures import STRUCTURES
from pathformer.spaces.hermitian import Hermitian, between, cubes
from pathformer.training.data import Drawn
from pathformer.training.settings import SoftmaxOptions

__all__ = ["factor_losses"]


def factor_losses(network: Model, batch: Batch, drawn: Drawn, entities: Reading, options: SoftmaxOptions) -> Tensor:
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
    found, query, place = [], 0, 0
    for block in layout.blocks:
        if block.structure == STRUCTURES["1p"]:
            found.append((query, block.count, place))
        query += block.count
        place += block.count * len(block.structure.columns)
    return found
