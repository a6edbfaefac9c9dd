"""Tensors in one file of safetensors: by name, with facts in its header, there as a whole or not at all.

The header holds one JSON object under the key `pathformer`, so that settings, step and fingerprint can be read without
touching a tensor. A kill at any moment leaves the last good file (`files.atomic`). Only who calls this needs torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathformer.errors import CheckpointError
from pathformer.files.atomic import new_file

if TYPE_CHECKING:
    import torch
    from torch import Tensor

__all__ = ["FORMAT", "Checkpoint", "check_graph", "read", "read_facts", "write"]

FORMAT = 2  # of the header; a reader refuses any other
_KEY = "pathformer"


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
            save_file(whole, draft, {_KEY: json.dumps({"format": FORMAT, **facts})})
        except SafetensorError as error:
            raise CheckpointError(f"{path} cannot be written ({error})") from error


def read(path: Path, device: torch.device | str = "cpu") -> Checkpoint:
    """Reads a whole file; device: where its tensors are put."""
    from safetensors import safe_open

    facts = read_facts(path)
    with safe_open(path, framework="pt", device=str(device)) as file:
        return Checkpoint(facts, {name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118


def read_facts(path: Path) -> dict[str, Any]:
    """Reads the header alone."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise CheckpointError(f"{path}: no such checkpoint")
    try:
        with safe_open(path, framework="pt") as file:
            header = (file.metadata() or {}).get(_KEY)
    except SafetensorError as error:
        raise CheckpointError(
            f"{path}: not a whole safetensors file ({error}): it was cut short, or is another file"
        ) from None
    if header is None:
        raise CheckpointError(
            f"{path}: a safetensors file, but not one of `pathformer train`: no {_KEY!r} in its header"
        )
    facts: dict[str, Any] = json.loads(header)
    if (found := facts.get("format")) != FORMAT:
        raise CheckpointError(f"{path}: written by another version (format {found!r}, this reads {FORMAT}): train anew")
    return facts


def check_graph(facts: Mapping[str, Any], fingerprint: str, path: Path, graph: str) -> None:
    """Refuses facts of another graph: ids would mean other entities and relations than those at hand."""
    if facts["fingerprint"] != fingerprint:
        raise CheckpointError(
            f"{path} was trained on another graph: its vocabulary is {facts['fingerprint']} ({facts.get('dataset')}), "
            f"that of {graph} is {fingerprint}; ids would mean other things"
        )
