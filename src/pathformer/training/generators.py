"""The state of torch's generators, as tensors that a checkpoint can hold.

A run draws from that of its device, its first weights from the processor's.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

__all__ = ["restore", "states"]


def states(device: torch.device) -> dict[str, Tensor]:
    """That of the processor, and of the card where a run computes on one."""
    found = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        found["cuda"] = torch.cuda.get_rng_state(device)
    return found


def restore(saved: Mapping[str, Tensor], device: torch.device) -> None:
    """Go on with what `states` gave; a run that moves to a card draws there from its seed."""
    torch.set_rng_state(saved["cpu"].cpu())
    if device.type == "cuda" and "cuda" in saved:
        torch.cuda.set_rng_state(saved["cuda"].cpu(), device)
