from __future__ import annotations

import numpy as np
import pytest

from pathformer.evaluation.evaluate import ScoreRanker, reference_filter
from pathformer.kg.graph import Graph
from pathformer.kg.ragged import Ragged
from pathformer.links.frequency import Frequency
from pathformer.query.structures import STRUCTURES, structure
from pathformer.querysets.queries import Queries

TRIPLES = np.array([[0, 0, 1], [2, 0, 1], [3, 0, 1], [0, 0, 2], [1, 2, 2], [3, 2, 2], [0, 2, 3]])


@pytest.fixture
def frequency() -> Frequency:
    return Frequency(Graph.from_triples(TRIPLES, entities=5, relations=4))


def queries(name: str, row: list[int]) -> Queries:
    return Queries(structure(name), np.array([row], np.int32), Ragged.of([[]]), Ragged.of([[2]]))


def test_an_entity_scores_by_how_often_the_last_relation_ends_in_it(frequency: Frequency) -> None:
    counts = np.expm1(frequency.scores(queries("1p", [4, 0]))[0]).round().tolist()
    assert counts == [0, 3, 1, 0, 0]
    inverse = np.expm1(frequency.scores(queries("2p", [4, 2, 1]))[0]).round().tolist()
    assert inverse == [2, 0, 1, 1, 0]  # edges of relation 0 out of each


def test_branches_add_up_negated_ones_say_nothing_and_unions_take_the_best(frequency: Frequency) -> None:
    one, other = frequency.row(0), frequency.row(2)
    assert np.allclose(frequency.scores(queries("2i", [4, 0, 3, 2]))[0], one + other)
    assert np.allclose(frequency.scores(queries("2in", [4, 0, 3, 2]))[0], one)
    assert np.allclose(frequency.scores(queries("2u", [4, 0, 3, 2]))[0], np.maximum(one, other))


def test_it_ranks_every_structure(frequency: Frequency) -> None:
    for name, shape in STRUCTURES.items():
        asked = queries(name, [0] * len(shape.columns))
        assert len(ScoreRanker(frequency).rank(asked, asked.hard, reference_filter(asked)).closer) == 1


def test_ranks_follow_the_scores(frequency: Frequency) -> None:
    asked = queries("1p", [4, 0])
    ranks = ScoreRanker(frequency).rank(asked, asked.hard, reference_filter(asked))
    assert (ranks.closer.tolist(), ranks.tied.tolist()) == ([1], [0])  # entity 1 has three edges, entity 2 one
