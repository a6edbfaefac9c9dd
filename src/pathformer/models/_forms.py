"""The forms in which an engine's weights are kept: as they are, in bf16, or in int8 with a scale for every row.

R rows, C numbers of a row.

    int8:   x[r, c] ~ scale[r] q[r, c],    scale[r] = max_c |x[r, c]| / 127,    q the nearest whole number

A row is what the last dimension runs over: an entity's or a relation's in a table, an output channel's in a matrix.
One scale for a whole table would be set by its largest row, and the others would be left with a few steps; so it is
with a row that is several side by side (`Model.row_parts`), which has a scale for each. Vectors and single numbers
(biases, gains, a temperature) are few, and stay as they are in every form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor

from pathformer.errors import CheckpointError, DivergedError, InputError

__all__ = ["FORMS", "FULL", "check_form", "packed", "unpacked"]

FULL = "full"  # as trained
FORMS = ("bf16", "int8")  # the released ones

Parts = Mapping[str, Sequence[int]]  # by name, the widths of what a row is made of
_WHOLE: Parts = MappingProxyType({})

_STEPS = 127  # of int8 on either side of zero; -128 is not used, so that a row and its negative round alike


def check_form(form: str) -> None:
    """Refuse a form that there is not."""
    if form not in FORMS:
        raise InputError(f"no form {form!r} to release weights in; there are {' and '.join(FORMS)}")


def packed(weights: Mapping[str, Tensor], form: str, parts: Parts = _WHOLE) -> dict[str, Tensor]:
    """Weights as a release keeps them: `model.NAME`, and in int8 the rows' scales beside them as `scale.NAME`.

    parts: of rows that are several side by side; each has a scale of its own.
    """
    check_form(form)
    found: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if tensor.ndim < 2 or not tensor.is_floating_point():
            found[f"model.{name}"] = tensor
        elif form == "bf16":
            found[f"model.{name}"] = tensor.to(torch.bfloat16)
        else:
            found[f"model.{name}"], found[f"scale.{name}"] = _in_parts(name, tensor, parts.get(name))
    return found


def unpacked(weights: Mapping[str, Tensor], scales: Mapping[str, Tensor], parts: Parts = _WHOLE) -> dict[str, Tensor]:
    """What `packed` kept, in float32: weights by NAME, and the scales of those in int8."""
    return {name: _numbers(name, tensor, scales.get(name), parts.get(name)) for name, tensor in weights.items()}


def _in_parts(name: str, tensor: Tensor, widths: Sequence[int] | None) -> tuple[Tensor, Tensor]:
    """As `_whole_numbers`, each part of a row for itself: its scales are (..., R, parts)."""
    if widths is None:
        return _whole_numbers(name, tensor)
    numbers, scales = zip(*(_whole_numbers(name, part) for part in tensor.split(list(widths), dim=-1)), strict=True)
    return torch.cat(numbers, dim=-1), torch.stack(scales, dim=-1)


def _whole_numbers(name: str, tensor: Tensor) -> tuple[Tensor, Tensor]:
    """q (..., R, C) int8 and scale (..., R) float32."""
    exact = tensor.detach().float()
    largest = exact.abs().amax(dim=-1)
    if not bool(torch.isfinite(largest).all()):
        raise DivergedError(f"{name} holds numbers that are not finite: the weights diverged")
    scale = _short(largest / _STEPS)
    steps = exact / torch.where(scale > 0, scale, 1.0)[..., None]  # a row of zeros stays one
    return steps.round_().clamp_(-_STEPS, _STEPS).to(torch.int8), scale


def _short(scale: Tensor) -> Tensor:
    """Rounded up to 16 significant bits: then 127 steps are exact, and what is read and kept again keeps its bits."""
    return ((scale.view(torch.int32) + 0xFF) & ~0xFF).view(torch.float32)


def _numbers(name: str, tensor: Tensor, scale: Tensor | None, widths: Sequence[int] | None) -> Tensor:
    if tensor.dtype is not torch.int8:
        return tensor.float() if tensor.is_floating_point() else tensor
    if scale is not None and widths is not None and scale.shape == (*tensor.shape[:-1], len(widths)):
        scales = scale.repeat_interleave(torch.tensor(list(widths), device=scale.device), dim=-1)
        return tensor.to(torch.float32).mul_(scales)
    if scale is None or scale.shape != tensor.shape[:-1]:
        raise CheckpointError(f"{name} is kept in int8 without a scale for every row: the file is not whole")
    return tensor.to(torch.float32).mul_(scale[..., None])
