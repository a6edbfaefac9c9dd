"""A baseline that knows single links only: a link predictor's guesses, chained by beam search.

Q queries, N entities, w width of the beam.

Each entity has a degree of being an answer, from a predictor's p(x | head, relation), softmax of minus the distance:

    an anchor itself         1 for a, 0 for all others
    a link from an anchor    p(x | a, r)
    a link from a variable   max over the w most likely v of degree(v) p(x | v, r)
    and                      the product of the branches
    or                       the largest of the disjuncts
    not                      1 - degree / (largest degree): the likeliest entities are ruled out
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from pathformer.evaluation.ranks import Filters, Ranks, even_blocks, rank_blocks
from pathformer.kg.ragged import Ragged
from pathformer.models._base import Model
from pathformer.models._batch import Batch
from pathformer.plan.build import build_layout, decompose
from pathformer.plan.layout import Block
from pathformer.query.compile.paths import Fork, Path
from pathformer.query.structures import NEGATION, STRUCTURES
from pathformer.querysets.queries import Queries

__all__ = ["Chain"]

_NUMBERS = 1 << 25  # of a block of (queries, beam, entities)


class Chain:
    """Ranks by chained single links of a model, which need not be able to do more."""

    def __init__(self, model: Model, width: int = 64) -> None:
        self.model, self.table = model, model.entities.weight.detach()
        self.width = min(width, len(self.table))

    def rank(self, queries: Queries, targets: Ragged, filters: Filters) -> Ranks:
        """Ranks `targets` of every query among the entities that no filter holds."""
        size = max(1, _NUMBERS // (self.width * len(self.table)))

        def some(first: int, last: int) -> Tensor:
            return -self.degrees(queries.take(np.arange(first, last)))

        with self.model.at_rest(), torch.inference_mode():
            return rank_blocks(some, targets, filters, even_blocks(len(queries), size))

    def degrees(self, queries: Queries) -> Tensor:
        """Returns the degree of every entity for every query, (Q, N)."""
        disjuncts = [self._degrees(disjunct, queries.ids) for disjunct in decompose(queries.structure, "dnf")]
        return torch.stack(disjuncts).amax(dim=0)

    def links(self, heads: Tensor, relations: Tensor) -> Tensor:
        """Returns p(x | head, relation) for n links, (n,) and (n,) -> (n, N)."""
        layout = build_layout([Block(STRUCTURES["1p"], len(heads))])
        ids = torch.stack([heads, relations], dim=1).flatten().int()
        points = self.model.encode(Batch.of(layout, self.table.device), ids)
        return torch.softmax(-self.model.space.distance_to_all(points.float(), self.table), dim=1)

    def _degrees(self, query: Path | Fork, ids: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> Tensor:
        if isinstance(query, Fork):
            return torch.stack([self._degrees(branch, ids) for branch in query.branches]).prod(dim=0)
        columns = torch.from_numpy(ids).to(self.table.device).long()
        operators = list(query.operators)
        if isinstance(query.start, Fork):
            degree = self._degrees(query.start, ids)
        elif operators[0] == NEGATION:
            degree = one_hot(columns[:, query.start], len(self.table)).float()
        else:
            degree = self.links(columns[:, query.start], columns[:, operators.pop(0)])
        for operator in operators:
            degree = _denied(degree) if operator == NEGATION else self._projected(degree, columns[:, operator])
        return degree

    def _projected(self, degree: Tensor, relations: Tensor) -> Tensor:
        """Follows one more link from the beam, (Q, N) -> (Q, N)."""
        likely, beam = degree.topk(self.width, dim=1)  # (Q, w)
        links = self.links(beam.flatten(), relations.repeat_interleave(self.width))
        return (likely[:, :, None] * links.view(*beam.shape, -1)).amax(dim=1)


def _denied(degree: Tensor) -> Tensor:
    return 1.0 - degree / degree.amax(dim=1, keepdim=True).clamp_min(1e-30)
