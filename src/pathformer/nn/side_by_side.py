"""Several encoders over the same packed sequences, each for its own columns.

T rows, d columns an encoder.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pathformer.nn.packing import Packing

__all__ = ["SideBySide"]


class SideBySide(nn.Module):
    """Encoder k reads and writes columns k d .. (k + 1) d; they share no weights."""

    def __init__(self, encoders: Sequence[nn.Module]) -> None:
        super().__init__()
        self.encoders = nn.ModuleList(encoders)

    def forward(self, rows: Tensor, packing: Packing) -> Tensor:
        """rows (T, k d) -> (T, k d)."""
        columns = rows.chunk(len(self.encoders), dim=-1)
        parts = [encoder(own.contiguous(), packing) for encoder, own in zip(self.encoders, columns, strict=True)]
        return torch.cat(parts, dim=-1)
