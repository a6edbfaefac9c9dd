"""Several vectors at once: weights over branches, means and minima over branches.

F forks, b branches of the widest fork. Branches come as in `nn.fold`: branch i of every fork that has one, forks of
most branches first. They are stacked as (b, F, ...), what is missing filled so that it does not count; shapes depend
on the batch's layout alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

__all__ = ["BranchAttention", "mean_branch", "mix_branches", "smallest_branch", "stack_branches"]


def stack_branches(branches: Sequence[Tensor], fill: float = 0.0) -> Tensor:
    """(n_1, d), (n_2, d), ... -> (b, F, d), `fill` where a fork has no such branch."""
    count = len(branches[0])
    full = [
        branch if len(branch) == count else F.pad(branch, (0, 0, 0, count - len(branch)), value=fill)
        for branch in branches
    ]
    return torch.stack(full)


def mix_branches(weights: Tensor, branches: Sequence[Tensor]) -> Tensor:
    """sum_i a_i * x_i: weights (b, F, d), branches (n_1, d), (n_2, d), ... -> (F, d)."""
    return (weights * stack_branches(branches)).sum(dim=0)


def mean_branch(branches: Sequence[Tensor]) -> Tensor:
    """The mean over each fork's own branches: (n_1, d), (n_2, d), ... -> (F, d)."""
    total = stack_branches(branches).sum(dim=0)
    arity = torch.ones(len(total), 1, dtype=total.dtype, device=total.device)
    for branch in branches[1:]:
        arity[: len(branch)] += 1
    return total / arity


def smallest_branch(branches: Sequence[Tensor]) -> Tensor:
    """The minimum over each fork's own branches, in every dimension: (n_1, d), (n_2, d), ... -> (F, d)."""
    return stack_branches(branches, torch.inf).amin(dim=0)


class BranchAttention(nn.Module):
    """a_i = softmax over the branches i of W_2 relu(W_1 x_i + b_1), in every dimension; Xavier weights.

    The reference code adds a b_2, which is the same for all branches: a softmax over them does not see it, and it would
    never learn anything. It is left out.
    """

    def __init__(self, size: int, hidden: int, out: int) -> None:
        """Numbers of an x, of the hidden layer, of the weights of one branch."""
        super().__init__()
        self.hidden = nn.Linear(size, hidden)  # W_1, b_1
        self.scores = nn.Linear(hidden, out, bias=False)  # W_2
        for linear in (self.hidden, self.scores):
            nn.init.xavier_uniform_(linear.weight)

    def forward(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, x), (n_2, x), ... -> (b, F, a) float32, 0 where a fork has no such branch."""
        rows = torch.cat(list(branches)).to(self.hidden.weight.dtype)
        scores = self.scores(self.hidden(rows).relu()).split([len(part) for part in branches])
        return stack_branches(scores, -torch.inf).softmax(dim=0, dtype=torch.float32)
