"""Weights in less: near what they were, never far in any row, and the same bits when they are kept again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import Tensor

from pathformer.errors import CheckpointError, DivergedError, InputError
from pathformer.models._forms import check_form, pack, unpack
from pathformer.plan.encoder import FORMS

NUMBERS = st.floats(-(2.0**40), 2.0**40, width=32, allow_subnormal=False).map(lambda x: 0.0 if abs(x) < 1e-30 else x)
MATRICES = hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=3, max_side=7), elements=NUMBERS)


def opened(kept: dict[str, Tensor]) -> dict[str, Tensor]:
    def part(prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): tensor for name, tensor in kept.items() if name.startswith(prefix)}

    return unpack(part("model."), part("scale."))


def half_a_step(table: np.ndarray) -> np.ndarray:
    """Of each number's row, with a hair for the rounding of the scale."""
    steps = np.abs(table).max(axis=-1) / 127
    return np.broadcast_to(steps[..., None] * 0.501 + 1e-30, table.shape)


@given(MATRICES)
def test_no_number_moves_by_more_than_half_a_step_of_its_row(table: np.ndarray) -> None:
    found = opened(pack({"w": torch.from_numpy(table)}, "int8"))["w"].numpy()
    assert (np.abs(found - table) <= half_a_step(table)).all()


@given(MATRICES)
def test_what_is_kept_again_keeps_its_bits(table: np.ndarray) -> None:
    for form in FORMS:
        first = pack({"w": torch.from_numpy(table)}, form)
        again = pack(opened(first), form)
        assert first.keys() == again.keys()
        assert all(torch.equal(first[name], again[name]) for name in first)


def test_a_row_has_a_scale_of_its_own() -> None:
    table = torch.tensor([[1000.0, -400.0], [0.001, 0.0004], [0.0, 0.0]])
    kept = pack({"t": table}, "int8")
    assert kept["model.t"].dtype == torch.int8
    assert kept["model.t"].tolist() == [[127, -51], [127, 51], [0, 0]]
    assert kept["scale.t"].shape == (3,)
    torch.testing.assert_close(opened(kept)["t"], table, rtol=0.01, atol=0.0)


def test_a_row_that_is_several_has_a_scale_for_each() -> None:
    torch.manual_seed(0)
    table = torch.cat([torch.randn(9, 5), 0.001 * torch.randn(9, 3)], dim=1)
    parts = {"t": (5, 3)}
    for form in FORMS:
        kept = pack({"t": table, "w": table}, form, parts)
        scales = {name: kept[f"scale.{name}"] for name in ("t", "w")} if form == "int8" else {}
        numbers = {name: kept[f"model.{name}"] for name in ("t", "w")}
        found = unpack(numbers, scales, parts)
        for part, whole in zip(found["t"].split([5, 3], dim=1), table.split([5, 3], dim=1), strict=True):
            assert (part - whole).abs().max() < 0.01 * whole.abs().max()
        again = pack(found, form, parts)
        assert all(torch.equal(kept[name], again[name]) for name in kept)
        if form == "int8":
            assert (scales["t"].shape, scales["w"].shape) == ((9, 2), (9,))
            assert torch.equal(found["w"][:, 5:], torch.zeros(9, 3))  # with one scale nothing is left of the small one
            one = unpack({"t": numbers["w"]}, {"t": scales["w"]}, parts)  # as a row that was kept with one scale
            assert torch.equal(one["t"], found["w"])
            with pytest.raises(CheckpointError, match="t is kept in int8 without a scale for every row"):
                unpack({"t": numbers["t"]}, {"t": scales["t"]})


def test_only_matrices_and_tables_are_kept_in_less() -> None:
    weights = {
        "bias": torch.randn(5),
        "temperature": torch.tensor(3.3),
        "count": torch.tensor([[7]]),
        "w": torch.ones(2, 3),
    }
    for form, dtype in (("bf16", torch.bfloat16), ("int8", torch.int8)):
        kept = pack(weights, form)
        assert torch.equal(kept["model.bias"], weights["bias"])
        assert torch.equal(kept["model.temperature"], weights["temperature"])
        assert torch.equal(kept["model.count"], weights["count"])
        assert kept["model.w"].dtype == dtype
        assert {name for name in kept if name.startswith("scale.")} == ({"scale.w"} if form == "int8" else set())
        assert opened(kept)["w"].dtype == torch.float32


def test_a_form_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match=r"^there is no form 'int4' of a release: choose bf16 or int8$"):
        check_form("int4")
    with pytest.raises(InputError, match="no form 'full'"):
        pack({}, "full")
    for form in FORMS:
        check_form(form)


def test_what_is_not_finite_is_refused() -> None:
    table = torch.ones(2, 2)
    table[1, 0] = torch.nan
    with pytest.raises(DivergedError, match="entities holds numbers that are not finite: the weights diverged"):
        pack({"entities": table}, "int8")


def test_whole_numbers_without_their_scales_are_refused() -> None:
    whole = torch.ones(2, 3, dtype=torch.int8)
    for scales in ({}, {"w": torch.ones(3)}):
        with pytest.raises(CheckpointError, match="w is kept in int8 without a scale for every row"):
            unpack({"w": whole}, scales)
