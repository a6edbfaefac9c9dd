"""The checks before a run trains: the same graph, the same settings, structures that its method can take."""

from __future__ import annotations

from pathlib import Path

import torch

from pathformer import config
from pathformer.errors import CheckpointError
from pathformer.experiments.records import plain_settings
from pathformer.experiments.settings import Run, read_run
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build
from pathformer.plan.build import build_layout
from pathformer.plan.layout import Block
from pathformer.query.structures import STRUCTURES
from pathformer.training import checkpoint

__all__ = ["check_graph", "check_method", "check_settings"]


def check_graph(last: Path, kg: KnowledgeGraph) -> None:
    """Refuses to continue a run on another graph."""
    if last.is_file():
        checkpoint.check_graph(checkpoint.read_facts(last), kg.vocabulary.fingerprint(), last, kg.name)


def check_settings(last: Path, run: Run) -> None:
    """Refuses to continue a run with other settings."""
    if not last.is_file():
        return
    stored = read_run(base=checkpoint.read_facts(last)["settings"])  # as they read today: one version may know more
    before, now = (checkpoint.as_stored(plain_settings(one.plain())) for one in (stored, run))
    different = config.list_changes(before, now)
    if different:
        raise CheckpointError(
            f"{last.parent} holds a run with other settings: {'; '.join(different)}. "
            "Continue it with the settings it has, choose another --out, or start it anew with --fresh"
        )


def check_method(run: Run) -> None:
    """Refuses a run whose method cannot take what it is trained or ranked on, before anything is read."""
    try:
        with torch.device("meta"):  # shapes only
            model = build(run.method, run.model_settings, entities=2, relations=2)
    except (NotImplementedError, RuntimeError):  # it computes with its first weights: its first batch will tell
        return
    asked = (STRUCTURES[name] for name in (*run.trained_structures, *run.evaluated_structures))
    model.check(build_layout([Block(structure, 1) for structure in dict.fromkeys(asked)], model.union))
