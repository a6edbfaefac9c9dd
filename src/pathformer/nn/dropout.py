"""Dropout for operations that may be fused: plain dropout, or seeds from which a kernel draws its own mask.

All seeds of a pass are drawn at once from torch's generator, so a run repeats under `torch.manual_seed`, a captured
step draws anew at every replay, and a kernel's backward pass redraws its mask instead of keeping it.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.backend import is_fused

__all__ = ["Noise"]


class Noise:
    """The dropouts of one forward pass, at most `sites` of them."""

    def __init__(self, rate: float, sites: int, like: Tensor) -> None:
        self.rate = rate
        self._seeds: Tensor | None = None
        self._used = 0
        if rate > 0 and is_fused(like):
            self._seeds = torch.randint(2**31 - 1, (sites,), dtype=torch.int32, device=like.device)

    def seed(self) -> Tensor | None:
        """Returns the seed of the next site, (1,) int32; None if nothing is dropped."""
        if self._seeds is None:
            return None
        self._used += 1
        return self._seeds[self._used - 1 : self._used]

    def drop(self, values: Tensor) -> Tensor:
        """Drops numbers the plain way."""
        return F.dropout(values, self.rate) if self.rate > 0 else values
