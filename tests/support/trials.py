"""Small models on a small graph, UMLS: what they are trained on, what they are asked, and a method in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.models._base import build
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.queries import Queries
from pathformer.querysets.query_sets import graph_pair
from pathformer.querysets.sampler import sample
from pathformer.training.data import TrainingSet
from pathformer.training.settings import StepConfig
from pathformer.training.step import TrainingStep

TRAINED = ("1p", "2p", "2i")


def trained_on(kg: KnowledgeGraph) -> dict[str, Queries]:
    """1,500 training queries of each structure."""
    pair = graph_pair(kg, "train")
    return {name: sample(STRUCTURES[name], pair, 1500) for name in TRAINED}


def asked_of(kg: KnowledgeGraph, structures: Sequence[str], count: int) -> dict[str, Queries]:
    """Test queries, so many of each structure."""
    pair = graph_pair(kg, "test")
    return {name: sample(STRUCTURES[name], pair, count, stream="test") for name in structures}


def in_training(
    case: tuple[str, Mapping[str, Any]], graph: Graph, queries: Mapping[str, Queries], batch: int, config: StepConfig
) -> TrainingStep:
    """A new model of a method and its settings, and updates on so many queries of each structure."""
    torch.manual_seed(0)
    made = build(*case, entities=graph.entities, relations=graph.relations)
    data = TrainingSet.of(list(queries.values()), graph.entities)
    return TrainingStep(made, data, dict.fromkeys(queries, batch), config)
