"""A multi-layer perceptron: linear maps with ReLU between them.

A linear map whose weights may be laid out once, as the processor's own library wants them.

T rows, i numbers in, o numbers out.

torch gives weights to oneDNN as they lie, and oneDNN lays them out anew for every product: for the handful of rows of
one question that costs more than the product. Inside `with laid.used():` each weight is laid out when it is first met;
from then on a product reads it once, at about the memory's rate. The numbers are the same up to the order of the
additions, which oneDNN takes in float32 either way.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    """`MLP(a, b, c)` is Linear a to b, ReLU, Linear b to c; torch's own initial weights, as in the reference code.

    xavier: Xavier-uniform weights beside torch's own biases, as the geometric methods have them.
    """

    def __init__(self, *sizes: int, xavier: bool = False) -> None:
        super().__init__()
        made = [nn.Linear(a, b) for a, b in pairwise(sizes)]
        self.linears = nn.ModuleList(made)
        if xavier:
            for layer in made:
                nn.init.xavier_uniform_(layer.weight)

    def forward(self, values: Tensor) -> Tensor:
        """(..., a) -> (..., c), in the precision of the weights."""
        values = values.to(next(self.parameters()).dtype)
        for place, layer in enumerate(self.linears):
            assert isinstance(layer, nn.Linear)
            values = linear(values.relu() if place else values, layer.weight, layer.bias)
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
    """Laid-out copies of weights, for products without gradients: as much memory again as the weights take.

    A copy is made anew where its weight has been changed in place or given other memory.
    """

    def __init__(self) -> None:
        self._copies: dict[int, _Copy] = {}

    def __len__(self) -> int:
        return len(self._copies)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Inside, `linear` multiplies by the copies; in this thread alone."""
        token = _LAID.set(self)
        try:
            yield
        finally:
            _LAID.reset(token)

    def of(self, weight: Tensor) -> Tensor | None:
        """The copy of a weight, or None where torch or the processor cannot use one."""
        state = (weight.data_ptr(), 0 if weight.is_inference() else weight._version)
        kept = self._copies.get(id(weight))
        if kept is not None and kept.state == state:
            return kept.laid
        if weight.device.type != "cpu" or not _able(weight.dtype):
            return None
        laid: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
        self._copies[id(weight)] = _Copy(weight, state, laid)
        return laid


_LAID: ContextVar[Laid | None] = ContextVar("laid", default=None)


@cache
def _able(dtype: torch.dtype) -> bool:
    """Whether oneDNN is there and multiplies this kind of number as fast as it can."""
    if not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return False
    return dtype is torch.float32 or (dtype is torch.bfloat16 and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()))
