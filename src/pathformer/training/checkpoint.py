"""Checkpoints: one safetensors file, tensors by name and facts in its header, there as a whole or not at all.

The header holds one JSON object under the key `pathformer`, so that settings, step and fingerprint can be read without
touching a tensor. A kill at any moment leaves the last good file (`files.atomic`).

The state of torch's generators, as tensors that a checkpoint can hold.

A run draws from that of its device, its first weights from the processor's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from pathformer.errors import CheckpointError
from pathformer.files.atomic import new_file
from pathformer.models._base import Model, build

__all__ = [
    "FORMAT",
    "Checkpoint",
    "as_stored",
    "check_graph",
    "load_model",
    "read",
    "read_facts",
    "restore",
    "states",
    "write",
]

FORMAT = 2  # of the header; a reader refuses any other
_KEY = "pathformer"


@dataclass(frozen=True, eq=False, slots=True)
class Checkpoint:
    """What a file holds."""

    facts: Mapping[str, Any]
    tensors: Mapping[str, Tensor]

    def part(self, prefix: str) -> dict[str, Tensor]:
        """The tensors whose name starts with `prefix.`, without it."""
        start = f"{prefix}."
        return {name.removeprefix(start): t for name, t in self.tensors.items() if name.startswith(start)}

    def weights(self) -> dict[str, Tensor]:
        """The model's weights to answer with: their moving average where the run kept one."""
        own = self.part("model")
        return own | {name: tensor for name, tensor in self.part("average").items() if name in own}


def write(path: Path, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write a checkpoint so that `path` is either what it was before or complete."""
    try:
        with new_file(path) as draft:
            whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
            save_file(whole, draft, {_KEY: json.dumps({"format": FORMAT, **facts})})
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be written ({getattr(error, 'strerror', None) or error})") from error


def read(path: Path, device: torch.device | str = "cpu") -> Checkpoint:
    """Read a checkpoint whole."""
    facts = read_facts(path)
    with safe_open(path, framework="pt", device=str(device)) as file:
        return Checkpoint(facts, {name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118


def read_facts(path: Path) -> dict[str, Any]:
    """The header of a checkpoint alone."""
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


def as_stored(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as they will be read back: tuples become lists, keys become text."""
    stored: dict[str, Any] = json.loads(json.dumps(facts))
    return stored


def load_model(path: Path, device: torch.device | str = "cpu") -> tuple[Model, dict[str, Any]]:
    """The model that a checkpoint holds, ready to answer, and the checkpoint's facts."""
    saved = read(path)
    facts = dict(saved.facts)
    model = build(facts["method"], facts["model"], entities=facts["entities"], relations=facts["relations"])
    model.load_state_dict(saved.weights())
    return model.to(device).eval(), facts


def check_graph(facts: Mapping[str, Any], fingerprint: str, path: Path, graph: str) -> None:
    """Refuse a checkpoint whose ids mean other entities and relations than those of the graph at hand."""
    if facts["fingerprint"] != fingerprint:
        raise CheckpointError(
            f"{path} was trained on another graph: its vocabulary is {facts['fingerprint']} ({facts.get('dataset')}), "
            f"that of {graph} is {fingerprint}; ids would mean other things"
        )


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
