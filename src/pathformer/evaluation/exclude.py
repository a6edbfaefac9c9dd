"""Negation by probability: what a negated branch probably holds loses, by a point of that branch's own.

Q queries, N entities. Of a query A & !B, with Dist(e) its own distances and p_B(e) the probability of an entity by B's
distances,

    Dist'(e) = Dist(e) + log(1 + (k n_B p_B(e))^2),    n_B = 1 / sum_e p_B(e)^2

that is, log p(e) + log(1 - m_B(e)) with the membership m_B = (k n_B p_B)^2 / (1 + (k n_B p_B)^2): n_B is over how many
entities B is spread, so n_B p_B is about 1 for what B holds and about 0 for the rest; the square makes the step between
them steeper. Entities that B holds are in a ranking of A & !B what hard answers compete with most: a model knows them
by heart as answers of A.

A query is then more than one point, one for every negated branch besides its own, as a union is one a disjunct. Only
branches of the last fork are taken (2in, 3in, pin, pni; not inp), and only of queries without a union.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

__all__ = ["exclude"]


def exclude(distances: Tensor, denied: Tensor, strength: float) -> Tensor:
    """Dist' from Dist (Q, N) and the distances to a negated branch (Q, N); strength: k."""
    unlikely = denied + torch.logsumexp(-denied, dim=1, keepdim=True)  # -log p_B
    outside = unlikely + torch.logsumexp(-2.0 * unlikely, dim=1, keepdim=True)  # -log n_B p_B
    return distances + F.softplus(2.0 * (math.log(strength) - outside))
