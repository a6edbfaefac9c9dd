"""Directions: the spaces in which only the angle between two rows counts read them so."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

__all__ = ["unit"]


def unit(rows: Tensor) -> Tensor:
    """v / |v|: (..., d) -> (..., d) float32."""
    return F.normalize(rows.float(), dim=-1)
