"""A moving average of the weights, kept beside them and ranked in their place.

    a = a + c (w - a),    c = max(1 - decay, 1 / t)

At first that is the plain mean of all weights so far, later the exponential one; t counts updates and lies on the
device, so a captured update moves on by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

__all__ = ["Average"]


class Average:
    """The average of one model's parameters."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self._weights = {name: weight.detach() for name, weight in model.named_parameters()}
        self._means = {name: weight.clone() for name, weight in self._weights.items()}
        self._count = torch.zeros((), dtype=torch.float32, device=next(iter(self._weights.values())).device)  # t

    @torch.no_grad()
    def update(self) -> None:
        """Take in the weights as they are after an update."""
        self._count += 1
        share = self._count.reciprocal().clamp(min=1.0 - self.decay)
        for name, mean in self._means.items():
            mean.lerp_(self._weights[name], share)

    @contextmanager
    def instead(self) -> Iterator[None]:
        """Inside, the model's weights are the averages."""
        kept = {name: weight.clone() for name, weight in self._weights.items()}
        self._put(self._means)
        try:
            yield
        finally:
            self._put(kept)

    @torch.no_grad()
    def _put(self, values: Mapping[str, Tensor]) -> None:
        for name, weight in self._weights.items():
            weight.copy_(values[name])

    def state(self) -> dict[str, Tensor]:
        """Returns what a checkpoint must hold: the averages by the weights' names, and `count`."""
        return {**self._means, "count": self._count}

    @torch.no_grad()
    def load(self, state: Mapping[str, Tensor]) -> None:
        """Take up a saved state."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])
