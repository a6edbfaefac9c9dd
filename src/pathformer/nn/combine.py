"""Networks that turn the several vectors of a fork into one: pairwise from the left, or all at once in no order.

F forks, d embedding size, b branches of the widest fork. Branches come as a list of tensors, branch r of every fork
that has one: forks of most branches first, so each tensor (n_r, d) belongs to the first n_r forks and none is longer
than the one before. Where branches are stacked as (b, F, ...), missing ones are filled so that they do not count;
shapes depend on the batch's layout alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.mlp import MLP

__all__ = [
    "BranchAttention",
    "Complement",
    "LeftFold",
    "MLPPair",
    "MeanPair",
    "SetFold",
    "SumFold",
    "WeighedFold",
    "by_arity",
    "left_fold",
    "mean_branch",
    "mix_branches",
    "smallest_branch",
    "stack_branches",
]

Start = Literal["random", "mean", "sum"]
_NOISE, _LIFT = 0.1, 4.0  # see `MLPPair`


def left_fold(branches: Sequence[Tensor], pair: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Joins branches two by two, pair(pair(x_1, x_2), x_3) ...: (n_1, d), (n_2, d), ... -> (F, d)."""
    value = branches[0]
    for branch in branches[1:]:
        value = _combine_first(value, branch, pair)
    return value


def by_arity(branches: Sequence[Tensor]) -> list[Tensor]:
    """Groups forks by arity m, most branches first: (n_1, d), (n_2, d), ... -> (count, m, d) for each m."""
    sizes = [*map(len, branches), 0]
    groups = []
    for arity in range(len(branches), 0, -1):
        first, last = sizes[arity], sizes[arity - 1]  # the forks that have this many branches and no more
        if first < last:
            groups.append(torch.stack([branch[first:last] for branch in branches[:arity]], dim=1))
    return groups


class LeftFold(nn.Module):
    """pair(pair(x_1, x_2), x_3) ...: any number of branches by a network of two."""

    def __init__(self, pair: nn.Module) -> None:
        super().__init__()
        self.pair = pair

    def forward(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, d), (n_2, d), ... -> (F, d)."""
        return left_fold(branches, self.pair)


class MLPPair(nn.Module):
    """Eq. 4: MLP(x_i (+) x_j), with (+) the concatenation.

    start: the function that it is at first, usual random weights or the mean or sum of its inputs with a tenth of the
    usual weights on top; the latter two need hidden sizes of 2 d, or of 2 d and d. reach: the largest size of the
    numbers that enter; four times as much is added before a second ReLU.
    """

    def __init__(self, dim: int, hidden: Sequence[int], start: Start = "random", reach: float = 0.0) -> None:
        super().__init__()
        self.mlp = MLP(2 * dim, *hidden, dim)
        if start != "random":
            if tuple(hidden) not in ((2 * dim,), (2 * dim, dim)):
                raise ValueError(f"hidden sizes {list(hidden)} cannot start as a {start}: that takes 2 d, or 2 d and d")
            factor = 0.5 if start == "mean" else 1.0
            self.mlp.start_as_sum((factor, factor), _NOISE, _LIFT * reach)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Two (n, d) -> (n, d)."""
        folded: Tensor = self.mlp(torch.cat([left, right], dim=-1))
        return folded


class MeanPair(nn.Module):
    """The mean of several networks' outputs (MLP2Vector: two)."""

    def __init__(self, *pairs: nn.Module) -> None:
        super().__init__()
        self.pairs = nn.ModuleList(pairs)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Two (n, d) -> (n, d)."""
        return torch.stack([pair(left, right) for pair in self.pairs]).mean(dim=0)


class SetFold(nn.Module):
    """rho(mean_i phi(x_i) (+) max_i phi(x_i)): the order of the branches does not matter, and there may be any number.

    Ours; phi d > d with ReLU, rho 2d > 2d > d, which makes exactly as many weights as the paper's pairwise fork.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.each = MLP(dim, dim)  # phi
        self.all = MLP(2 * dim, 2 * dim, dim)  # rho

    def forward(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, d), (n_2, d), ... -> (F, d)."""
        sizes = [len(branch) for branch in branches]
        seen = self.each(torch.cat(list(branches))).relu().split(sizes)
        total = largest = seen[0]
        arity = torch.ones(len(total), 1, dtype=total.dtype, device=total.device)
        for part in seen[1:]:
            total = _combine_first(total, part, torch.add)
            largest = _combine_first(largest, part, torch.maximum)
            arity[: len(part)] += 1
        folded: Tensor = self.all(torch.cat([total / arity, largest], dim=-1))
        return folded


class WeighedFold(nn.Module):
    """sum_i exp(w(x_i)) x_i: the sum of the branches, each with a weight of its own, about 1 at first.

    Ours. w sees the direction of a branch, not its size: it learns which kind of branch to trust.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = MLP(dim, dim, 1)  # w
        with torch.no_grad():
            for parameter in self.weight.linears[-1].parameters():
                parameter.mul_(0.1)

    def forward(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, d), (n_2, d), ... -> (F, d)."""
        rows = torch.cat(list(branches))
        weights = self.weight(F.layer_norm(rows, rows.shape[-1:])).exp().to(rows.dtype)  # (n, 1), n = n_1 + n_2 + ...
        return left_fold((rows * weights).split([len(branch) for branch in branches]), torch.add)


class SumFold(nn.Module):
    """A `WeighedFold` plus g(LN x_1, LN x_2, ...), where g is a `SetFold` whose last map starts at a tenth of its size.

    Ours. Where scores are inner products, adding queries multiplies the probabilities of their answers, up to a
    constant: the sum treats branches as independent. g sees directions, with dropout, so that it also copes with
    branches longer than those it was trained on.
    """

    def __init__(self, dim: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout
        self.sum = WeighedFold(dim)
        self.more = SetFold(dim)  # g
        with torch.no_grad():
            for weight in self.more.all.linears[-1].parameters():
                weight.mul_(0.1)

    def forward(self, branches: Sequence[Tensor]) -> Tensor:
        """(n_1, d), (n_2, d), ... -> (F, d)."""
        rows = torch.cat(list(branches))
        seen = F.dropout(F.layer_norm(rows, rows.shape[-1:]), self.dropout, self.training)
        folded: Tensor = self.sum(branches) + self.more(seen.split([len(branch) for branch in branches]))
        return folded


def _combine_first(value: Tensor, part: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Combines a branch with the first rows of `value`, which have it; the rest stays: (F, d), (n, d) -> (F, d)."""
    count = len(part)
    joined = combine(value[:count], part)
    return joined if count == len(value) else torch.cat([joined, value[count:]])


def stack_branches(branches: Sequence[Tensor], fill: float = 0.0) -> Tensor:
    """Stacks branches, with `fill` where a fork has none: (n_1, d), (n_2, d), ... -> (b, F, d)."""
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
        """size: numbers of an x; hidden: of the hidden layer; out: weights of one branch."""
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


class Complement(nn.Module):
    """-c x + f(x): c learned, 1/2 at first; f a network d > d > d whose last map starts at a tenth of its usual size.

    Where scores are inner products and a fork adds up its branches, a denied branch takes from its answers the score
    that it would give them if it were not denied.
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
