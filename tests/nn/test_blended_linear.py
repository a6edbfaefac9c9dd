"""Blended maps against maps that are written out, forwards and backwards, in one part and in several."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from pathformer.nn import blended_linear
from pathformer.nn.blended_linear import Blend


def written_out(made: Blend, rows: Tensor, coefficients: Tensor) -> Tensor:
    moved = []
    for row, weights in zip(rows, coefficients, strict=True):
        own = sum(weight * matrix for weight, matrix in zip(weights, made.maps, strict=True))
        shift = sum(weight * vector for weight, vector in zip(weights, made.shifts, strict=True))
        moved.append(row @ own + shift)
    return torch.stack(moved)


@pytest.mark.parametrize("chunk", [1, 2 * 3 * 5, 1 << 28])  # one row at a time, two, all seven
def test_a_blend_is_the_sum_of_its_maps(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blended_linear, "CHUNK", chunk)
    torch.manual_seed(0)
    made = Blend(5, 3).double()
    rows, coefficients = (torch.randn(7, size, dtype=torch.float64, requires_grad=True) for size in (5, 3))
    expected, found = written_out(made, rows, coefficients), made(rows, coefficients)
    torch.testing.assert_close(found, expected)
    weight = torch.randn(7, 5, dtype=torch.float64)
    inputs = [rows, coefficients, made.maps, made.shifts]
    for one, other in zip(
        torch.autograd.grad((found * weight).sum(), inputs),
        torch.autograd.grad((expected * weight).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_maps_start_orthogonal_and_different() -> None:
    torch.manual_seed(0)
    made = Blend(16, 6)
    for matrix in made.maps:
        torch.testing.assert_close(matrix @ matrix.t(), torch.eye(16), atol=1e-5, rtol=0)
    flat = made.maps.detach().flatten(1)
    alike = (flat @ flat.t() / 16).fill_diagonal_(0.0)  # 1 for equal maps, about 1/16 for independent ones
    assert alike.abs().max() < 0.35
    assert torch.linalg.matrix_rank(flat) == 6
