"""Losses of queries from distances, the reference code's weights of queries, and means by structure.

B queries, u negatives a query, S structures.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

__all__ = ["block_means", "margin_loss", "pairwise_loss", "query_weights"]


def margin_loss(positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Eq. 6 (label eq4):  -log s(margin - Dist(e;q)) - 1/u sum_j log s(Dist(e'_j;q) - margin).

    positive (B,)  Dist(e;q);  negative (B, u)  Dist(e'_j;q);  returns (B,), one loss a query.
    """
    return F.softplus(positive - margin) + F.softplus(margin - negative).mean(dim=-1)


def pairwise_loss(positive: Tensor, negative: Tensor) -> Tensor:
    """-1/u sum_j log s(Dist(e'_j;q) - Dist(e;q)).  positive (B,), negative (B, u) -> (B,)."""
    return F.softplus(positive[:, None] - negative).mean(dim=-1)


def query_weights(answers: Tensor, power: float = -0.5) -> Tensor:
    """w_q = (4 + number of train answers)^power; the reference code has -1/2, the paper's Eq. 6 none. (B,) -> (B,)."""
    return (answers + 4.0).rsqrt() if power == -0.5 else (answers + 4.0) ** power


def block_means(losses: Tensor, weights: Tensor, sizes: Sequence[int]) -> Tensor:
    """The weighted mean loss of each structure's queries. losses, weights (B,) -> (S,).

    sizes: how many neighbouring queries each structure has. Each update of the reference code holds one structure; the
    mean over the result is the loss of all those updates taken together.
    """
    totals = torch.stack([part.sum() for part in (losses * weights).split(list(sizes))])
    return totals / torch.stack([part.sum() for part in weights.split(list(sizes))])
