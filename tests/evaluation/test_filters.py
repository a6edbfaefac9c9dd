"""What is filtered: all answers by default, the larger graph's answers in the strict variant."""

from __future__ import annotations

import numpy as np

from pathformer.evaluation.evaluate import reference_filter, strict_filter
from pathformer.evaluation.ranks import Filters
from pathformer.kg.graph import Graph
from pathformer.kg.ragged import Ragged
from pathformer.query.structures import structure
from pathformer.querysets.queries import Queries

SMALL = np.array([[0, 0, 2], [0, 0, 3], [1, 0, 3]])
LARGE = np.array([*SMALL, [0, 0, 4], [1, 0, 2]])  # entity 2 stops being an answer of 2in, 4 becomes one


def queries() -> Queries:
    ids = np.array([[0, 0, 1, 0]], np.int32)  # what 0 points at and 1 does not
    return Queries(structure("2in"), ids, easy=Ragged.of([[2]]), hard=Ragged.of([[4]]))


def entities(filters: Filters) -> set[int]:
    return {int(entity) for rows in filters for entity in rows[0]}


def test_the_reference_filters_vanished_answers() -> None:
    assert entities(reference_filter(queries())) == {2, 4}


def test_the_strict_variant_ranks_against_vanished_answers() -> None:
    larger = Graph.from_triples(LARGE, entities=6, relations=2)
    assert entities(strict_filter(queries(), larger)) == {4}


def test_without_negation_both_are_the_same_and_the_graph_is_not_asked() -> None:
    plain = Queries(structure("1p"), np.array([[0, 0]], np.int32), Ragged.of([[2, 3]]), Ragged.of([[4]]))
    nothing = Graph.from_triples(np.zeros((0, 3), int), entities=6, relations=2)
    assert entities(strict_filter(plain, nothing)) == entities(reference_filter(plain)) == {2, 3, 4}
