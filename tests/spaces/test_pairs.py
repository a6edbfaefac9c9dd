"""Distances by pairs on kernels: the numbers and gradients of the spaces' own plain lines.

As in `test_fused.py`: a CUDA device, or TRITON_INTERPRET=1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from pathformer.spaces.box import Box
from pathformer.spaces.cone import Cone

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
B, K, N, D = 7, 19, 11, 37

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("kernels")]


def box(queries: Tensor, rows: Tensor) -> Tensor:
    return Box(D, 24.0).distance(queries[:, None], rows)


def cone(queries: Tensor, rows: Tensor) -> Tensor:
    space = Cone(D, 30.0).to(DEVICE)
    return space.distance_to_features(queries[:, None], rows) / space.scale.detach()


def dot(queries: Tensor, rows: Tensor) -> Tensor:
    return (queries[:, None] * rows).sum(dim=-1)


def made(kind: str) -> tuple[Tensor, Tensor]:
    queries, table = torch.randn(B, D if kind == "dot" else 2 * D), torch.randn(N, D)
    if kind == "cone":
        queries[:, D:] = torch.rand(B, D) * math.pi
        queries[:, :D], table = torch.rand(B, D) * 6 - 3, torch.rand(N, D) * 6 - 3
    return queries.to(DEVICE), table.to(DEVICE)


every_kind = pytest.mark.parametrize("plain", [box, cone, dot], ids=["box", "cone", "dot"])


@every_kind
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_numbers_and_gradients(plain: Callable[[Tensor, Tensor], Tensor], dtype: torch.dtype) -> None:
    from pathformer.spaces.kernels.pairs import pair_distance

    queries, table = made(plain.__name__)
    table = table.to(dtype)
    ids = torch.randint(N - 2, (B, K), device=DEVICE, dtype=torch.int32)  # two rows that nobody names
    grad = torch.randn(B, K, device=DEVICE)
    found_q, found_t = queries.clone().requires_grad_(), table.clone().requires_grad_()
    plain_q, plain_t = queries.clone().requires_grad_(), table.float().requires_grad_()
    found = pair_distance(found_q, found_t, ids, plain.__name__)  # type: ignore[arg-type]
    expected = plain(plain_q, plain_t[ids.long()])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    found.backward(grad)
    expected.backward(grad)
    assert found_q.grad is not None
    assert found_t.grad is not None
    torch.testing.assert_close(found_q.grad, plain_q.grad, rtol=1e-3, atol=1e-4)
    near = {torch.float32: 1e-4, torch.bfloat16: 5e-2}[dtype]
    torch.testing.assert_close(found_t.grad.float(), plain_t.grad, rtol=near, atol=near)
    assert (found_t.grad[-2:] == 0).all()


@every_kind
def test_every_query_with_every_row(plain: Callable[[Tensor, Tensor], Tensor]) -> None:
    from pathformer.spaces.kernels.pairs import every_distance

    queries, table = made(plain.__name__)
    table[3] = table[5]
    found = every_distance(queries, table, plain.__name__)  # type: ignore[arg-type]
    torch.testing.assert_close(found, plain(queries, table[None].expand(B, -1, -1)), rtol=1e-4, atol=1e-4)
    assert torch.equal(found[:, 3], found[:, 5])  # equal rows are exact ties
