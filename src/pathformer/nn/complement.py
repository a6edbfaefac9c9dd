"""What becomes of a branch that is denied, before it meets others.

n rows, d embedding size.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pathformer.nn.mlp import MLP

__all__ = ["Complement"]


class Complement(nn.Module):
    """-c x + f(x): c learned, 1/2 at first; f a network d > d > d whose last map starts at a tenth of its usual size.

    Where scores are inner products and a fork adds its branches up, what a denied branch holds then loses what it would
    have won by a branch that is not denied.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.share = nn.Parameter(torch.tensor([0.5]))  # c
        self.more = MLP(dim, dim, dim)  # f
        with torch.no_grad():
            for weight in self.more.linears[-1].parameters():
                weight.mul_(0.1)

    def forward(self, rows: Tensor) -> Tensor:
        """(n, d) -> (n, d)."""
        complement: Tensor = self.more(rows) - self.share * rows
        return complement
