"""Tensors of torch in a file of safetensors: by name, with facts in its header, there as a whole or not at all.

The header holds one JSON object under the key `pathformer`, so that settings, step and fingerprint can be read without
touching a tensor (`files.weights`). A kill at any moment leaves the last good file (`files.atomic`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathformer.errors import CheckpointError
from pathformer.files.atomic import new_file
from pathformer.files.weights import FORMAT, KEY, WeightsFile, read_facts

if TYPE_CHECKING:
    import torch
    from torch import Tensor

__all__ = ["Checkpoint", "read", "unmap", "write"]


@dataclass(frozen=True, eq=False, slots=True)
class Checkpoint:
    """The content of a file."""

    facts: Mapping[str, Any]
    tensors: Mapping[str, Tensor]

    def part(self, prefix: str) -> dict[str, Tensor]:
        """Returns the tensors whose name starts with `prefix.`, named without it."""
        start = f"{prefix}."
        return {name.removeprefix(start): t for name, t in self.tensors.items() if name.startswith(start)}

    def weights(self) -> dict[str, Tensor]:
        """Returns the model's weights to answer with: their moving average where the run kept one."""
        own = self.part("model")
        return own | {name: tensor for name, tensor in self.part("average").items() if name in own}


def write(path: Path, facts: Mapping[str, Any], tensors: Mapping[str, Tensor], kind: str | None = None) -> None:
    """Writes a file so that `path` is either what it was before or complete; kind: as for `files.atomic.new_file`."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    with new_file(path, kind) as draft:
        whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        try:
            save_file(whole, draft, {KEY: json.dumps({"format": FORMAT, **facts})})
        except SafetensorError as error:
            raise CheckpointError(f"{path} cannot be written ({error})") from error


def read(path: Path, device: torch.device | str = "cpu") -> Checkpoint:
    """Reads a whole file; device: where its tensors are put."""
    from safetensors import safe_open

    facts = read_facts(path)
    with safe_open(path, framework="pt", device=str(device)) as file:
        return Checkpoint(facts, {name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118


def unmap(opened: WeightsFile) -> Checkpoint:
    """Returns the content of a mapped file as tensors, which are copies."""
    from safetensors.torch import load

    return Checkpoint(opened.facts, load(opened.content[:]))
