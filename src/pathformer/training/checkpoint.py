"""Checkpoints of a run: a model with its facts (`files.tensors`), and the state of torch's generators.

A run draws from the generator of its device, and its first weights from the processor's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pathformer.files import tensors, weights
from pathformer.files.saved import check_file
from pathformer.files.tensors import Checkpoint
from pathformer.files.weights import FORMAT, check_graph
from pathformer.models._base import Model, build

__all__ = [
    "FORMAT",
    "Checkpoint",
    "as_stored",
    "check",
    "check_graph",
    "load_model",
    "read",
    "read_facts",
    "restore",
    "states",
    "write",
]


def as_stored(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns facts as they will be read back: tuples become lists, keys become text."""
    stored: dict[str, Any] = json.loads(json.dumps(facts))
    return stored


def write(path: Path, facts: Mapping[str, Any], named: Mapping[str, Tensor]) -> None:
    """Writes a checkpoint of a run, and says so in the manifest of the run's folder."""
    tensors.write(path, facts, named, "run")


def read(path: Path, device: torch.device | str = "cpu") -> Checkpoint:
    """Reads a checkpoint that is as it was saved; device: where its tensors are put."""
    check(path)
    return tensors.read(path, device)


def read_facts(path: Path) -> dict[str, Any]:
    """Reads the facts alone of a checkpoint that is as it was saved."""
    check(path)
    return weights.read_facts(path)


def check(path: Path) -> None:
    """Checks a checkpoint against the manifest of its folder, if there is one: it must be there if that knows it."""
    check_file(path, "run")


def load_model(path: Path, device: torch.device | str = "cpu") -> tuple[Model, dict[str, Any]]:
    """Opens the model of a checkpoint, ready to answer, and the checkpoint's facts."""
    saved = read(path)
    facts = dict(saved.facts)
    model = build(facts["method"], facts["model"], entities=facts["entities"], relations=facts["relations"])
    model.load_state_dict(saved.weights())
    return model.to(device).eval(), facts


def states(device: torch.device) -> dict[str, Tensor]:
    """Returns the state of the processor's generator, and of the card's if a run computes on one."""
    found = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        found["cuda"] = torch.cuda.get_rng_state(device)
    return found


def restore(saved: Mapping[str, Tensor], device: torch.device) -> None:
    """Puts the states of `states` back; a run that moves to a card draws there from its seed."""
    torch.set_rng_state(saved["cpu"].cpu())
    if device.type == "cuda" and "cuda" in saved:
        torch.cuda.set_rng_state(saved["cuda"].cpu(), device)
