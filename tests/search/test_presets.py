"""Named ways to search, as their papers describe them."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from pathformer.kg.graph import Graph
from pathformer.query.structures import STRUCTURES
from pathformer.search.optimise import score
from pathformer.search.presets import PRESETS

N = 30
FACTS = Graph.from_triples(np.array([[0, 0, 1], [1, 2, 2], [1, 2, 3], [4, 2, 5]]), N, 4)
RAW = (4 * np.random.default_rng(0).normal(size=(4, N, N))).astype(np.float32)


def scores_of(name: str, structure: str, row: list[int]) -> np.ndarray:
    table = PRESETS[name].table(lambda heads, relation: RAW[relation][heads], FACTS)
    return score([STRUCTURES[structure].tree(row)], table, PRESETS[name].search)[0]


def qto_link(head: int, relation: int, tail: int) -> float:
    if FACTS.has(head, relation, tail):
        return 1.0
    known = max(1, len(FACTS.tails_of(head, relation)))
    p = min(0.9999, known * exp(RAW[relation, head, tail]) / np.exp(RAW[relation, head].astype(float)).sum())
    return p if p > 0.0002 else 0.0


def test_qto_is_its_equations() -> None:
    """pni: the negated relation is complemented before the maximum over its heads."""
    found = scores_of("qto", "pni", [0, 0, 2, 4, 2])
    for tail in range(N):
        links = [qto_link(0, 0, u) * (1 - min(1, 3 * qto_link(u, 2, tail))) for u in range(N)]
        assert found[tail] == pytest.approx(max(links) * qto_link(4, 2, tail), abs=1e-6)


def test_cqd_reads_no_facts_and_its_hybrid_does() -> None:
    squashed = 1 / (1 + np.exp(-RAW[2, 4].astype(float)))
    assert scores_of("cqd-beam", "1p", [4, 2]) == pytest.approx(squashed, abs=1e-6)
    squashed[5] = 1
    assert scores_of("cqd-hybrid", "1p", [4, 2]) == pytest.approx(squashed, abs=1e-6)
