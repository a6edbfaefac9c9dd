"""Ranks by an engine's encoder, arrays in and out: whatever made the points."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from pathformer.evaluation.ranks import Filters, Ranks, block_rows, even_blocks, fold_disjuncts, rank_blocks
from pathformer.kg.ragged import Ragged
from pathformer.plan.encoder import Encoder
from pathformer.querysets.queries import Queries

__all__ = ["EncoderRanker"]


class EncoderRanker:
    """Ranks all entities by their distance to the points of a question."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def rank(self, queries: Queries, targets: Ragged, filters: Filters) -> Ranks:
        """Ranks `targets` of every query among the entities that no filter holds."""
        size = block_rows(self.encoder.entity_count, torch.device("cpu"))

        def distances(first: int, last: int) -> Tensor:
            trees = [queries.structure.tree(row) for row in queries.ids[first:last].tolist()]
            points = self.encoder.points(trees)
            far = torch.from_numpy(self.encoder.distances(points.rows))
            return fold_disjuncts(far, np.diff(points.ptr), self.encoder.combine)

        return rank_blocks(distances, targets, filters, even_blocks(len(queries), size))
