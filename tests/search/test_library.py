"""What search asks of an array library: numpy's compiled loops against plain ones, and torch in numpy's stead."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.query_strategies import ENTITIES, RELATIONS, Edges, graphs, trees
from support.search_twin import matrix, predictions, value
from support.torch_search import Torch

from pathformer.kg.graph import Graph
from pathformer.links.table import LinkTable
from pathformer.query.tree import Tree
from pathformer.search import library
from pathformer.search.library import NUMPY
from pathformer.search.norms import NORMS
from pathformer.search.optimise import optimise
from pathformer.search.settings import SearchSettings

LEVELS = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=7, max_size=7)


@given(st.lists(LEVELS, min_size=1, max_size=3), st.integers(1, 9) | st.none())
def test_the_best_are_the_largest_and_of_equal_ones_the_first(rows: list[list[float]], width: int | None) -> None:
    heads, values = NUMPY.best(np.array(rows, np.float32), width)
    for row, ids, beliefs in zip(rows, heads.tolist(), values.tolist(), strict=True):
        expected = sorted((entity for entity, value in enumerate(row) if value > 0), key=lambda e: (-row[e], e))[:width]
        assert ids[: len(expected)] == expected
        assert beliefs == [row[entity] for entity in expected] + [0.0] * (len(ids) - len(expected))


@given(trees(max_leaves=6), graphs(), predictions(), st.sampled_from(sorted(NORMS)))
def test_torch_gives_the_same_scores_and_reasons(tree: Tree, edges: Edges, predicted: np.ndarray, norm: str) -> None:
    facts = Graph.from_triples(np.array(sorted(edges), np.int32).reshape(-1, 3), ENTITIES, RELATIONS)
    table = LinkTable(facts, lambda heads, relation: predicted[relation][heads])
    how = SearchSettings(norm=norm, width=None, negation="links")
    ours, theirs = optimise([tree], table, how), optimise([tree], table, how, Torch())
    assert theirs.scores.numpy() == pytest.approx(ours.scores, abs=1e-6)
    links = matrix(edges, predicted)
    for entity in range(ENTITIES):
        best = theirs.assignment(entity)
        if best is None:
            assert theirs.scores[0, entity] == 0
        else:
            assert value(tree, entity, best.bindings, links, how) == pytest.approx(best.belief, abs=1e-5)


SIZE = 40
PREDICTED = np.random.default_rng(0).random((SIZE, SIZE)).astype(np.float32) / 2
BELIEFS = np.random.default_rng(1).random((5, SIZE)).astype(np.float32)
RELATIONS_ASKED = np.array([0, 1, 0, 1, 0])
FACTS = Graph.from_triples(np.random.default_rng(2).integers(0, [SIZE, 1, SIZE], (60, 3)), SIZE, 2)


def follow(threshold: float, width: int | None) -> np.ndarray:
    table = LinkTable(FACTS, lambda heads, relation: PREDICTED[heads], threshold=threshold)
    best = NUMPY.best(BELIEFS, width)
    return np.asarray(NUMPY.hop(table, NORMS["product"], RELATIONS_ASKED, best, everyone=BELIEFS).beliefs)


def naive(threshold: float, width: int) -> list[list[float]]:
    """The predicted links of the best, the facts of everyone."""
    rows = []
    for beliefs, relation in zip(BELIEFS.tolist(), RELATIONS_ASKED.tolist(), strict=True):
        best = sorted(range(SIZE), key=lambda entity: -beliefs[entity])[:width]
        row = [0.0] * SIZE
        for head in range(SIZE):
            for tail in range(SIZE):
                p = float(PREDICTED[head, tail]) if head in best and PREDICTED[head, tail] > threshold else 0.0
                p = 1.0 if FACTS.has(head, relation, tail) else p
                row[tail] = max(row[tail], beliefs[head] * p)
        rows.append(row)
    return rows


@pytest.mark.parametrize("threshold", [0.0, 0.2])
@pytest.mark.parametrize("width", [1, 7, SIZE])
def test_a_hop_follows_predictions_of_the_best_and_facts_of_everyone(
    threshold: float, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = naive(threshold, width)
    assert follow(threshold, width) == pytest.approx(np.array(expected), rel=1e-6)
    monkeypatch.setattr(library, "ROWS", 4 * SIZE * 3)  # three rows fit memory
    monkeypatch.setattr(library, "LISTS", 3)
    assert follow(threshold, width) == pytest.approx(np.array(expected), rel=1e-6)
