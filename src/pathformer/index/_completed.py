"""Inner products as angles: rows of any length completed to one length by one more number.

b points, N entities, f numbers of each.

    x -> [x; sqrt(M^2 - |x|^2)]        p -> [p; 0]        M the longest row's length

Completed rows are all of length M, and their inner products with completed points are those of before, so the largest
inner product is the smallest angle (Bachrach et al. 2014).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

__all__ = ["completed", "completed_points", "longest"]

_ROWS = 4096  # in float32 at once


def longest(rows: Tensor) -> float:
    """M of rows (N, f)."""
    return max(float(part.float().norm(dim=1).max()) for part in rows.split(_ROWS))


def completed(rows: Tensor, length: float) -> Tensor:
    """(N, f) -> (N, f + 1) float32; a row that is longer than M = length gets 0."""
    wide = rows.float()
    rest = (length**2 - wide.double().square().sum(dim=1)).clamp_min(0.0).sqrt()
    return torch.cat([wide, rest[:, None].to(wide)], dim=1)


def completed_points(points: Tensor) -> Tensor:
    """(b, f) -> (b, f + 1) float32."""
    return F.pad(points.float(), (0, 1))
