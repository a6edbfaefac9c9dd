"""The sources of evidence that a fit makes of its train graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from pathformer.fitting.learn import learn_link_predictor
from pathformer.fitting.settings import FitSettings
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.evidence._base import Evidence
from pathformer.links.evidence.counts import Counts
from pathformer.links.evidence.linear import Linear
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import QuerySets
from pathformer.querysets.sampler import Rules, sample
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.training.display import Display
from pathformer.training.settings import Result

__all__ = ["Sources", "all_links", "learn_sources"]


@dataclass(frozen=True, eq=False)
class Sources:
    """The sources of evidence that a fit made."""

    made: list[Evidence]  # on the train graph
    relearned: tuple[Evidence, ...] = ()  # those of them that were learned once more, on all facts
    start: Result | None = None  # the training of the link predictor on the train graph, if there is one


def learn_sources(
    folder: Path,
    kg: KnowledgeGraph,
    questions: QuerySets[Queries],
    settings: FitSettings,
    device: torch.device,
    display: Display,
) -> Sources:
    """Makes the sources; the link predictor is trained in a folder, or on from there, where the settings have one."""
    graph = kg.graph("train")
    made: list[Evidence] = [Linear.of(graph), Counts(graph)]
    if (parts := settings.link_parts) is None:
        return Sources(made)
    first, again = parts
    valid = {name: asked for name, asked in questions["valid"].items() if name == "1p"}
    known, shown = questions["train"]["1p"], display.for_part("single links")
    result, embedding = learn_link_predictor(folder / "links", kg, known, valid, first, device, shown)
    if len(kg.splits) == 1:
        return Sources([embedding, *made], start=result)
    whole, shown = all_links(kg), display.for_part("all links")
    _, final = learn_link_predictor(folder / "all-links", kg, whole, {}, again, device, shown, result)
    return Sources([embedding, *made], relearned=(final,), start=result)


def all_links(kg: KnowledgeGraph) -> Queries:
    """Returns every (head, relation) of the whole graph with its tails."""
    rules = Rules(forward=True, link_limit=None)
    return sample(STRUCTURES["1p"], GraphPair.of(kg.graph()), None, stream="train", rules=rules)
