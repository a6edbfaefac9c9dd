"""A multi-layer perceptron: linear maps with ReLU between them."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from pathformer.nn.linear import linear

__all__ = ["MLP"]


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
