"""The forms of a release's weights: bf16, or int8 with a scale for every row.

R rows, C numbers of a row.

    int8:   x[r, c] ~ scale[r] q[r, c],    scale[r] = max_c |x[r, c]| / 127,    q the nearest whole number

A row belongs to an entity or a relation in a table, to an output channel in a matrix. Were there one scale for a whole
table, its largest row would set it, and the others would be left with a few steps. For the same reason a row that is
several rows side by side (`Model.row_parts`) has a scale for each of them. Vectors and single numbers (biases, gains, a
temperature) are few, and stay as they are in every form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor

from pathformer.errors import CheckpointError, DivergedError, InputError
from pathformer.plan.encoder import FORMS

__all__ = ["check_form", "pack", "unpack"]

Parts = Mapping[str, Sequence[int]]  # by name, the widths of what a row is made of
_WHOLE: Parts = MappingProxyType({})

_STEPS = 127  # of int8 on either side of zero; -128 is not used, so that a row and its negative round alike


def check_form(form: str) -> None:
    """Refuses an unknown form."""
    if form not in FORMS:
        raise InputError(f"there is no form {form!r} of a release: choose {' or '.join(FORMS)}")


def pack(weights: Mapping[str, Tensor], form: str, parts: Parts = _WHOLE) -> dict[str, Tensor]:
    """Returns weights as a release keeps them: `model.NAME`, and for int8 the scales of the rows as `scale.NAME`.

    parts: the widths of rows that are several rows side by side; each has a scale of its own.
    """
    check_form(form)
    found: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if tensor.ndim < 2 or not tensor.is_floating_point():
            found[f"model.{name}"] = tensor
        elif form == "bf16":
            found[f"model.{name}"] = tensor.to(torch.bfloat16)
        else:
            found[f"model.{name}"], found[f"scale.{name}"] = _to_int8_by_part(name, tensor, parts.get(name))
    return found


def unpack(weights: Mapping[str, Tensor], scales: Mapping[str, Tensor], parts: Parts = _WHOLE) -> dict[str, Tensor]:
    """Returns what `pack` kept, in float32: weights by NAME, and the scales of those in int8."""
    return {name: _to_float(name, tensor, scales.get(name), parts.get(name)) for name, tensor in weights.items()}


def _to_int8_by_part(name: str, tensor: Tensor, widths: Sequence[int] | None) -> tuple[Tensor, Tensor]:
    """Rounds each part of a row for itself: q (..., R, C) and its scales (..., R, parts)."""
    if widths is None:
        return _to_int8(name, tensor)
    numbers, scales = zip(*(_to_int8(name, part) for part in tensor.split(list(widths), dim=-1)), strict=True)
    return torch.cat(numbers, dim=-1), torch.stack(scales, dim=-1)


def _to_int8(name: str, tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Rounds rows: q (..., R, C) int8 and scale (..., R) float32."""
    exact = tensor.detach().float()
    largest = exact.abs().amax(dim=-1)
    if not bool(torch.isfinite(largest).all()):
        raise DivergedError(f"{name} holds numbers that are not finite: the weights diverged")
    scale = _round_up(largest / _STEPS)
    steps = exact / torch.where(scale > 0, scale, 1.0)[..., None]  # a row of zeros stays one
    return steps.round_().clamp_(-_STEPS, _STEPS).to(torch.int8), scale


def _round_up(scale: Tensor) -> Tensor:
    """Rounds scales up to 16 significant bits: 127 steps are then exact, and saving again changes no bit."""
    return ((scale.view(torch.int32) + 0xFF) & ~0xFF).view(torch.float32)


def _to_float(name: str, tensor: Tensor, scale: Tensor | None, widths: Sequence[int] | None) -> Tensor:
    if tensor.dtype is not torch.int8:
        return tensor.float() if tensor.is_floating_point() else tensor
    if scale is not None and widths is not None and scale.shape == (*tensor.shape[:-1], len(widths)):
        scales = scale.repeat_interleave(torch.tensor(list(widths), device=scale.device), dim=-1)
        return tensor.to(torch.float32).mul_(scales)
    if scale is None or scale.shape != tensor.shape[:-1]:
        raise CheckpointError(
            f"{name} is kept in int8 without a scale for every row: the file is damaged, take a copy of it"
        )
    return tensor.to(torch.float32).mul_(scale[..., None])
