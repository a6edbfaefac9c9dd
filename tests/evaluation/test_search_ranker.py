"""Ranking by search."""

from __future__ import annotations

import numpy as np
import pytest
from support import training_toy as toy

from pathformer.evaluation.evaluate import evaluate
from pathformer.evaluation.search_ranker import SearchRanker
from pathformer.kg.graph import Graph
from pathformer.query.structures import EPFO, STRUCTURES
from pathformer.querysets.sampler import sample
from pathformer.search.presets import PRESETS
from pathformer.symbolic.graph_pair import GraphPair


def links_of(graph: Graph, belief: float) -> np.ndarray:
    table = np.zeros((graph.relations, graph.entities, graph.entities), np.float32)
    for head, relation, tail in graph.triples().tolist():
        table[relation, head, tail] = table[relation ^ 1, tail, head] = belief
    return table


def test_who_knows_the_missing_links_ranks_every_answer_first() -> None:
    small, large = toy.graphs()
    table = links_of(large, 0.9)
    ranker = SearchRanker(PRESETS["search"], lambda heads, relation: table[relation][heads], small)
    asked = {name: sample(shape, GraphPair.of(large, small), 9, stream="test") for name, shape in STRUCTURES.items()}
    report = evaluate(ranker, asked)
    assert {name: report.scores[name].mrr for name in EPFO} == dict.fromkeys(EPFO, 1.0)
    assert all(report.scores[name].mrr > 0.5 for name in asked)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_ranks_every_structure(name: str) -> None:
    small, large = toy.graphs()
    table = links_of(large, 0.9)
    ranker = SearchRanker(PRESETS[name], lambda heads, relation: table[relation][heads], small)
    for shape in STRUCTURES.values():
        asked = sample(shape, GraphPair.of(large, small), 3, stream="test")
        assert len(ranker.rank(asked, asked.hard, (asked.easy, asked.hard)).closer) == len(asked.hard.values)
