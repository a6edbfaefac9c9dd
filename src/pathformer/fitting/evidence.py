"""The sources of evidence that a fit makes of its train graph."""

from __future__ import annotations

from pathlib import Path

import torch

from pathformer.fitting.learn import learn_link_predictor
from pathformer.fitting.settings import FitSettings
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.evidence._base import Evidence
from pathformer.links.evidence.counts import Counts
from pathformer.links.evidence.linear import Linear
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.training.display import Display
from pathformer.training.settings import Result

__all__ = ["learn_sources"]


def learn_sources(
    folder: Path,
    kg: KnowledgeGraph,
    questions: QuerySets[Queries],
    settings: FitSettings,
    device: torch.device,
    display: Display,
) -> tuple[list[Evidence], Result | None]:
    """Returns the sources, and the training of the link predictor where the settings have one."""
    graph = kg.graph("train")
    sources: list[Evidence] = [Linear.of(graph), Counts(graph)]
    if settings.links is None:
        return sources, None
    result, embedding = learn_link_predictor(folder / "links", kg, questions, settings.links, device, display)
    return [embedding, *sources], result
