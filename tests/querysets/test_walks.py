"""The distribution of walks against a plain twin that follows the protocol's words."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from pathformer.kg.graph import Graph
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.sampler import BlockDrawer, Rules
from pathformer.symbolic.graph_pair import GraphPair
from pathformer.symbolic.kernels.program import compile_structure

GRAPH = Graph.from_triples(np.array([[0, 0, 1], [0, 0, 2], [1, 2, 2], [3, 0, 2], [2, 2, 0]]), 4, 4)


def drawn(name: str, rules: Rules, blocks: int) -> Counter[tuple[int, ...]]:
    pair, kind = GraphPair.of(GRAPH), STRUCTURES[name]
    drawer = BlockDrawer(kind, compile_structure(kind), pair, rules, f"distribution/{name}", pair.starts())
    return Counter(tuple(row) for block in range(blocks) for row in drawer.draw_block(block)[0].tolist())


def twin_backward(rng: random.Random) -> tuple[int, ...] | None:
    """A 2p query: an answer, an incoming relation, a head, then again, not undoing the hop after it."""
    entity, row = rng.randrange(4), []
    for _ in range(2):
        for _ in range(40):
            relation = int(rng.choice(GRAPH.relations_of(entity).tolist())) ^ 1
            if not row or relation != row[-1] ^ 1:
                break
        else:
            return None
        row.append(relation)
        entity = int(rng.choice(GRAPH.tails_of(entity, relation ^ 1).tolist()))
    return (entity, row[1], row[0])


def twin_forward(rng: random.Random) -> tuple[int, ...] | None:
    """A 2p query walked from a uniform anchor, never straight back."""
    anchor = entity = rng.randrange(4)
    row: list[int] = []
    for _ in range(2):
        choices = [r for r in GRAPH.relations_of(entity).tolist() if not row or r != row[-1] ^ 1]
        if not choices:
            return None
        row.append(rng.choice(choices))
        entity = int(rng.choice(GRAPH.tails_of(entity, row[-1]).tolist()))
    return (anchor, *row)


def assert_same_distribution(ours: Counter[tuple[int, ...]], twin: Counter[tuple[int, ...]]) -> None:
    assert set(ours) == set(twin)
    for query, count in twin.items():
        assert abs(ours[query] / ours.total() - count / twin.total()) < 0.012, query


def test_backward_walks() -> None:
    rng = random.Random(1)
    twin = Counter(query for _ in range(40_000) if (query := twin_backward(rng)))
    assert_same_distribution(drawn("2p", Rules(), 10), twin)


def test_forward_walks() -> None:
    rng = random.Random(2)
    twin = Counter(query for _ in range(40_000) if (query := twin_forward(rng)))
    assert_same_distribution(drawn("2p", Rules(forward=True), 10), twin)
