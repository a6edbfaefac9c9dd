"""Where to compute."""

from __future__ import annotations

import torch

__all__ = ["choose_device"]


def choose_device(name: str = "auto") -> torch.device:
    """The device by name; "auto" is a CUDA device where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
