"""Queries taken apart at their negations."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from support.query_strategies import Edges, evaluate, graphs, trees

from pathformer.query.compile.negated_parts import contradicts_itself, positive_part
from pathformer.query.structures import STRUCTURES, structure
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Tree


@pytest.mark.parametrize(
    ("name", "part", "columns"),
    [
        ("2in", "1p", (0, 1)),
        ("3in", "2i", (0, 1, 2, 3)),
        ("inp", "2p", (0, 1, 4)),
        ("pin", "2p", (0, 1, 2)),
        ("pni", "1p", (3, 4)),
        ("((e,(r,)),((e,(r,)),(e,(r,n)),(u,)))", None, ()),  # its negation stands in a union, and takes nothing away
        ("((((e,(r,)),(e,(r,n))),(r,)),(e,(r,)),(e,(r,n)))", "pi", (0, 1, 4, 5, 6)),
        ("((e,(r,n)),(e,(r,n)))", None, ()),  # nothing would be left
        ("(e,(r,n,r))", None, ()),
        ("2u", None, ()),
    ],
)
def test_the_positive_part_is_what_is_left_without_negated_branches(
    name: str, part: str | None, columns: tuple[int, ...]
) -> None:
    found = positive_part(structure(name))
    assert found == (None if part is None else (structure(part), columns))


def test_a_part_of_a_query_is_columns_of_its_row() -> None:
    found = positive_part(STRUCTURES["pni"])
    assert found is not None
    part, columns = found
    row = (10, 20, 21, 11, 22)
    assert part.instance([row[column] for column in columns]) == (11, (22,))


@settings(max_examples=300)
@given(trees(), graphs())
def test_a_contradiction_is_empty_on_every_graph(tree: Tree, edges: Edges) -> None:
    for asked in (tree, Intersection((tree, Negation(tree)))):
        if contradicts_itself(asked):
            assert not evaluate(asked, edges)


def test_a_negated_conjunction_of_what_is_asked_for() -> None:
    a, b, c = (Projection(0, Anchor(e)) for e in range(3))
    assert contradicts_itself(Intersection((a, b, c, Negation(Intersection((b, a))))))
    assert not contradicts_itself(Intersection((a, c, Negation(Intersection((b, a))))))
    assert not contradicts_itself(Intersection((a, b)))
