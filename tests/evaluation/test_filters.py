"""What is filtered: all answers by default, the larger graph's answers in the strict variant."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pathformer.evaluation.filters import reference_filter, strict_filter, union
from pathformer.kg.graph import Graph
from pathformer.query.structures import structure
from pathformer.symbolic.queries import Queries, Ragged

SMALL = np.array([[0, 0, 2], [0, 0, 3], [1, 0, 3]])
LARGE = np.array([*SMALL, [0, 0, 4], [1, 0, 2]])  # entity 2 stops being an answer of 2in, 4 becomes one


def queries() -> Queries:
    ids = np.array([[0, 0, 1, 0]], np.int32)  # what 0 points at and 1 does not
    return Queries(structure("2in"), ids, easy=Ragged.of([[2]]), hard=Ragged.of([[4]]))


def test_the_reference_filters_vanished_answers() -> None:
    assert reference_filter(queries())[0].tolist() == [2, 4]


def test_the_strict_variant_ranks_against_vanished_answers() -> None:
    larger = Graph.from_triples(LARGE, entities=6, relations=2)
    assert strict_filter(queries(), larger)[0].tolist() == [4]


def test_without_negation_both_are_the_same_and_the_graph_is_not_asked() -> None:
    plain = Queries(structure("1p"), np.array([[0, 0]], np.int32), Ragged.of([[2, 3]]), Ragged.of([[4]]))
    nothing = Graph.from_triples(np.zeros((0, 3), int), entities=6, relations=2)
    assert strict_filter(plain, nothing)[0].tolist() == reference_filter(plain)[0].tolist() == [2, 3, 4]


@given(
    st.lists(st.tuples(st.sets(st.integers(0, 20)), st.sets(st.integers(21, 40) | st.integers(-20, -1))), max_size=6)
)
def test_union_equals_the_sets(rows: list[tuple[set[int], set[int]]]) -> None:
    both = union(Ragged.of([list(a) for a, _ in rows]), Ragged.of([list(b) for _, b in rows]))
    assert [row.tolist() for row in (both[i] for i in range(len(both)))] == [sorted(a | b) for a, b in rows]
