"""Linear maps with ReLU between them, and weights laid out once as the processor's own library wants them.

T rows, i numbers in, o numbers out.

torch hands weights to oneDNN as they lie, and oneDNN lays them out anew for every product: for the few rows of one
question that costs more than the product. Inside `with laid.used():` each weight is laid out once, when it is first
used. The numbers are the same up to the order of the additions, which oneDNN takes in float32 either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

__all__ = ["MLP", "Laid", "linear"]


class MLP(nn.Module):
    """A perceptron: `MLP(a, b, c)` is Linear a to b, ReLU, Linear b to c, with torch's own initial weights.

    xavier: Xavier-uniform weights beside torch's own biases, as the geometric methods have them.
    """

    def __init__(self, *sizes: int, xavier: bool = False) -> None:
        super().__init__()
        made = [nn.Linear(a, b) for a, b in pairwise(sizes)]
        self.linears = nn.ModuleList(made)
        if xavier:
            for layer in made:
                nn.init.xavier_uniform_(layer.weight)

    @torch.no_grad()
    def start_as_sum(self, factors: Sequence[float], noise: float, lift: float = 0.0) -> None:
        """Lets an MLP of one or two hidden layers start as a weighted sum of its inputs, each as long as its output.

        The first map holds z = a x + b y and -z, so that ReLU loses nothing; the second takes their difference. Before
        a further ReLU `lift` raises z above 0, and the last map takes it off again. noise: the share of the usual
        initial weights that stays on top.
        """
        first, second, *last = self.linears
        assert isinstance(first, nn.Linear)
        assert isinstance(second, nn.Linear)
        for parameter in self.parameters():
            parameter.mul_(noise)
        one = torch.eye(second.out_features)
        z = torch.cat([factor * one for factor in factors], dim=1)
        first.weight.add_(torch.cat([z, -z]))
        second.weight.add_(torch.cat([one, -one], dim=1))
        for layer in last:
            assert isinstance(layer, nn.Linear)
            second.bias.add_(lift)
            layer.weight.add_(one)
            layer.bias.sub_(lift)

    def forward(self, values: Tensor) -> Tensor:
        """(..., a) -> (..., c), in the precision of the weights."""
        values = values.to(next(self.parameters()).dtype)
        for number, layer in enumerate(self.linears):
            assert isinstance(layer, nn.Linear)
            values = linear(values.relu() if number else values, layer.weight, layer.bias)
        return values


def linear(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """rows W^T + b: rows (T, i), weight (o, i), bias (o,) -> (T, o)."""
    laid = _LAID.get()
    if laid is None or torch.is_grad_enabled() or (found := laid.of(weight)) is None:
        return F.linear(rows, weight, bias)
    product: Tensor = torch.ops.mkldnn._linear_pointwise(rows, found, bias, "none", [], "")
    return product


@dataclass(frozen=True, eq=False, slots=True)
class _Copy:
    weight: Tensor  # kept, so that its id stays its own
    state: tuple[int, int]
    laid: Tensor


class Laid:
    """Laid-out copies of weights, for products without gradients; they take as much memory again as the weights.

    A copy is made anew after its weight was changed in place or moved to other memory.
    """

    def __init__(self) -> None:
        self._copies: dict[int, _Copy] = {}

    def __len__(self) -> int:
        return len(self._copies)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Inside, and in this thread alone, `linear` multiplies by the copies."""
        token = _LAID.set(self)
        try:
            yield
        finally:
            _LAID.reset(token)

    def of(self, weight: Tensor) -> Tensor | None:
        """Returns the copy of a weight; None if torch or the processor cannot use one."""
        state = (weight.data_ptr(), 0 if weight.is_inference() else weight._version)
        kept = self._copies.get(id(weight))
        if kept is not None and kept.state == state:
            return kept.laid
        if weight.device.type != "cpu" or not _can_lay_out(weight.dtype):
            return None
        laid: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
        self._copies[id(weight)] = _Copy(weight, state, laid)
        return laid


_LAID: ContextVar[Laid | None] = ContextVar("laid", default=None)


@cache
def _can_lay_out(dtype: torch.dtype) -> bool:
    """Whether oneDNN is available and multiplies this kind of number at full speed."""
    if not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return False
    return dtype is torch.float32 or (dtype is torch.bfloat16 and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()))
