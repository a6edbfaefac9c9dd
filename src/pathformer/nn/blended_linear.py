"""Linear maps that are blends of a few shared ones: each row has its own map, none is ever written out.

n rows, J bases, d size. A row p with coefficients c goes through W = sum_j c_j M_j and b = sum_j c_j v_j:

    p W + b  =  [c_1 p; c_2 p; ...; c_J p] [M_1; M_2; ...; M_J] + c v

The left side would need n matrices of d x d; the right side is one matrix product over J d numbers. Those are made
again in the backward pass instead of being kept, a part of the rows at a time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["Blend"]

CHUNK = 1 << 28  # numbers of the n x J d side that exist at once


class Blend(nn.Module):
    """J maps of d x d, orthogonal at first, and J vectors of size d, Xavier-normal, as in FuzzQE's code.

    One random orthogonal matrix serves all maps, its rows and columns in another order and with other signs for each:
    every one is as random as if it were drawn alone, and 150 maps of 800 x 800 need one decomposition, not 150.
    """

    def __init__(self, dim: int, bases: int) -> None:
        super().__init__()
        self.maps = nn.Parameter(torch.empty(bases, dim, dim))  # M
        self.shifts = nn.Parameter(torch.empty(bases, dim))  # v
        with torch.no_grad():
            first = nn.init.orthogonal_(torch.empty(dim, dim))
            for number in range(bases):
                signs = 1.0 - 2.0 * torch.randint(2, (dim,))
                self.maps[number] = first[torch.randperm(dim)][:, torch.randperm(dim)] * signs
        nn.init.xavier_normal_(self.shifts)

    def forward(self, rows: Tensor, coefficients: Tensor) -> Tensor:
        """p W + b for every row: (n, d), (n, J) -> (n, d)."""
        moved: Tensor = _Blend.apply(rows, coefficients, self.maps)  # type: ignore[no-untyped-call]
        return torch.addmm(moved, coefficients, self.shifts)


class _Blend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, coefficients: Tensor, maps: Tensor) -> Tensor:
        ctx.save_for_backward(rows, coefficients, maps)
        stacked = maps.flatten(0, 1)  # (J d, d)
        size = _part_rows(maps)
        parts = zip(rows.split(size), coefficients.split(size), strict=True)
        return torch.cat([_spread(row, weight) @ stacked for row, weight in parts])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows, coefficients, maps = ctx.saved_tensors
        stacked, size = maps.flatten(0, 1), _part_rows(maps)
        of_maps = torch.zeros_like(stacked)
        of_rows, of_coefficients = [], []
        for row, weight, grad in zip(
            rows.split(size), coefficients.split(size), grads[0].contiguous().split(size), strict=True
        ):
            of_maps.addmm_(_spread(row, weight).t(), grad)
            back = (grad @ stacked.t()).view(len(grad), len(maps), -1)  # (n, J, d)
            of_rows.append(torch.bmm(weight[:, None], back).squeeze(1))
            of_coefficients.append(torch.bmm(back, row[:, :, None]).squeeze(2))
        return torch.cat(of_rows), torch.cat(of_coefficients), of_maps.view_as(maps)


def _spread(rows: Tensor, coefficients: Tensor) -> Tensor:
    """[c_1 p; ...; c_J p]: (n, d), (n, J) -> (n, J d)."""
    return (coefficients[:, :, None] * rows[:, None]).flatten(1)


def _part_rows(maps: Tensor) -> int:
    """Returns how many rows fit a part."""
    return max(1, CHUNK // (maps.shape[0] * maps.shape[1]))
