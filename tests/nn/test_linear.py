"""Weights that are laid out once: the same products, kept up to date, in one thread and without gradients."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn import mlp as module
from pathformer.nn.mlp import Laid, linear

needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch was built without oneDNN")
ROUNDING = {torch.float32: 1e-5, torch.bfloat16: 2**-7}  # relative to the largest number, as sums round


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes of weights that torch multiplied by as they lie."""
    seen: list[tuple[int, ...]] = []
    plain = F.linear
    monkeypatch.setattr(module.F, "linear", lambda x, w, b=None: seen.append(tuple(w.shape)) or plain(x, w, b))
    return seen


@given(
    seed=st.integers(0, 2**31), rows=st.integers(0, 20), wide=st.integers(1, 70), out=st.integers(1, 70),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]), biased=st.booleans(),
)  # fmt: skip
def test_products_are_those_of_the_weights_as_they_lie(
    seed: int, rows: int, wide: int, out: int, dtype: torch.dtype, biased: bool
) -> None:
    torch.manual_seed(seed)
    x, weight = torch.randn(rows, wide).to(dtype), torch.randn(out, wide).to(dtype)
    bias = torch.randn(out).to(dtype) if biased else None
    plain = linear(x, weight, bias)
    truth = x.double() @ weight.double().T + (0 if bias is None else bias.double())
    with torch.inference_mode(), Laid().used():
        laid = linear(x, weight, bias)
    assert laid.shape == (rows, out)
    assert laid.dtype is dtype
    room = ROUNDING[dtype] * max(1.0, truth.abs().max().item() if rows else 0.0)
    for found in (plain, laid):
        assert (found.double() - truth).abs().max().item() <= room if rows else True


@needs_onednn
def test_outside_and_beside_the_context_nothing_is_laid_out(calls: list[Any]) -> None:
    laid, x, weight = Laid(), torch.randn(2, 8), torch.randn(4, 8)
    linear(x, weight)
    assert calls == [(4, 8)]
    with torch.inference_mode(), laid.used():
        linear(x, weight)
        assert calls == [(4, 8)]
        other = threading.Thread(target=lambda: linear(x, weight))  # a thread's context is its own
        other.start()
        other.join()
    assert calls == [(4, 8)] * 2
    linear(x, weight)
    assert calls == [(4, 8)] * 3


@needs_onednn
def test_a_weight_is_laid_out_once_and_again_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    reorder = torch.ops.mkldnn._reorder_linear_weight
    monkeypatch.setattr(torch.ops.mkldnn, "_reorder_linear_weight", lambda w: made.append(1) or reorder(w))
    layer, x, laid = torch.nn.Linear(8, 4), torch.randn(3, 8), Laid()

    def agrees() -> bool:
        with torch.inference_mode(), laid.used():
            return torch.allclose(linear(x, layer.weight, layer.bias), F.linear(x, layer.weight, layer.bias), atol=1e-5)

    assert agrees()
    assert agrees()
    assert len(made) == 1
    with torch.no_grad():
        layer.weight.add_(1.0)  # in place
    assert agrees()
    assert len(made) == 2
    layer.weight.data = torch.randn(4, 8)  # other memory
    assert agrees()
    layer.weight = torch.nn.Parameter(torch.randn(4, 8))  # another parameter
    assert agrees()
    assert len(made) == 4


def test_what_the_processor_cannot_is_left_to_torch(calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with torch.inference_mode(), Laid().used():
        linear(torch.randn(2, 8).double(), torch.randn(4, 8).double())
    assert calls == [(4, 8)]
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    module._can_lay_out.cache_clear()
    try:
        with torch.inference_mode(), Laid().used():
            linear(torch.randn(2, 8), torch.randn(5, 8))
    finally:
        module._can_lay_out.cache_clear()
    assert calls == [(4, 8), (5, 8)]


def test_gradients_flow_as_ever() -> None:
    layer, x = torch.nn.Linear(8, 4), torch.randn(3, 8)
    with Laid().used():
        linear(x, layer.weight, layer.bias).sum().backward()
    assert layer.weight.grad is not None
    assert torch.allclose(layer.weight.grad, x.sum(0).expand(4, 8), atol=1e-5)
