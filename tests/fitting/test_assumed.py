"""The share of assumed edges that are true, counted on a graph where every binding is known."""

from __future__ import annotations

import pytest

from pathformer.engine.engine import Engine
from pathformer.fitting.assumed import AssumedShare, assumed_share
from pathformer.kg.graph import Graph
from pathformer.query.tree import Anchor, Projection


def test_the_edges_that_were_held_out_count_as_true(engine: Engine) -> None:
    graph, name = engine.kg.graph(), engine.kg.vocabulary
    directed, stars = name.relation_id("directed"), name.relation_id("stars")
    fellini, quinn = name.entity_id("Fellini"), name.entity_id("Quinn")
    triples = graph.triples()
    kept = triples[~((triples[:, 1] == stars) & (triples[:, 2] == quinn))]
    given = Graph.from_triples(kept, graph.entities, graph.relations)
    tree = Projection(stars, Projection(directed, Anchor(fellini)))
    found = assumed_share(engine, [(tree, quinn)], given, graph)
    assert found.answers == 1
    assert found.assumed >= 1
    assert 0 <= found.true <= found.assumed
    assert found.random_assumed >= 1
    everything = Graph.from_triples(_all_edges(graph), graph.entities, graph.relations)
    assert assumed_share(engine, [(tree, quinn)], given, everything).share == 1.0
    assert assumed_share(engine, [(tree, quinn)], given, given).share == 0.0
    assert assumed_share(engine, [(tree, quinn)] * 3, given, graph).assumed == 3 * found.assumed


def _all_edges(graph: Graph):
    import numpy as np

    axes = np.arange(graph.entities), np.arange(0, graph.relations, 2), np.arange(graph.entities)
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3).astype(np.int32)


def test_shares_of_nothing_are_zero() -> None:
    assert AssumedShare(0, 0, 0, 0, 0).to_dict()["share"] == 0.0
    assert AssumedShare(4, 8, 2, 10, 1).share == pytest.approx(0.25)
    assert AssumedShare(4, 8, 2, 10, 1).random_share == pytest.approx(0.1)
