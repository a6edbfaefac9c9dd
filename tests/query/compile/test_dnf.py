"""Unions out of the tree: the same answers, no union left, and never more disjuncts than allowed."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from support.query_strategies import evaluate, graphs, has_union, trees

from pathformer.errors import QuerySizeError
from pathformer.query.compile.dnf import disjuncts, to_demorgan, to_dnf
from pathformer.query.structures import STRUCTURES
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Union, canonical

A, B, C, D = (Projection(2 * i, Anchor(i)) for i in range(4))


@given(trees(), graphs())
def test_the_disjuncts_together_have_the_same_answers(tree, edges):
    parts = to_dnf(tree, limit=10**6)
    assert not any(map(has_union, parts))
    assert len(set(parts)) == len(parts) <= disjuncts(tree)
    assert frozenset.union(*(evaluate(part, edges) for part in parts)) == evaluate(tree, edges)


@given(trees(), graphs())
def test_de_morgan_has_the_same_answers(tree, edges):
    rewritten = to_demorgan(tree)
    assert not has_union(rewritten)
    assert evaluate(rewritten, edges) == evaluate(tree, edges)


def test_2u_and_up_become_two_paths_each():
    assert to_dnf(STRUCTURES["2u"].tree((0, 1, 2, 3))) == (Projection(1, Anchor(0)), Projection(3, Anchor(2)))
    assert to_dnf(STRUCTURES["up"].tree((0, 1, 2, 3, 5))) == (
        Projection(5, Projection(1, Anchor(0))),
        Projection(5, Projection(3, Anchor(2))),
    )


@pytest.mark.parametrize("name", [name for name, structure in STRUCTURES.items() if not structure.united])
def test_a_tree_without_unions_stays_as_it_is(name):
    structure = STRUCTURES[name]
    tree = structure.tree(range(len(structure.columns)))
    assert to_dnf(tree) == (tree,)
    assert to_demorgan(tree) == tree


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (Negation(Union((A, B))), (Intersection((Negation(A), Negation(B))),)),
        (Negation(Intersection((A, B))), (Negation(Intersection((A, B))),)),
        (Negation(Intersection((Negation(A), Negation(B)))), (A, B)),
        (Negation(Intersection((A, Negation(B)))), (Negation(Intersection((A, Negation(B)))),)),
        (
            Negation(Projection(2, Union((A, B)))),
            (Intersection((Negation(Projection(2, A)), Negation(Projection(2, B)))),),
        ),
        (Negation(Negation(Union((A, B)))), (A, B)),
        (
            Negation(Union((A, Negation(Union((B, C)))))),
            (Intersection((Negation(A), B)), Intersection((Negation(A), C))),
        ),
        (Intersection((A, Union((B, Intersection((C, D)))))), (Intersection((A, B)), Intersection((A, C, D)))),
        (Union((A, Intersection((A, A)), A)), (A, Intersection((A, A)))),
    ],
)
def test_rules(tree, expected):
    assert to_dnf(tree) == expected


def test_a_union_written_by_de_morgan_is_a_union():
    assert to_demorgan(Union((A, B))) == Negation(Intersection((Negation(A), Negation(B))))
    assert to_demorgan(Union((A, Negation(B)))) == Negation(Intersection((Negation(A), B)))
    assert canonical(Union(to_dnf(to_demorgan(Union((A, B, C)))))) == canonical(Union((A, B, C)))


def test_the_limit_counts_before_it_builds():
    pair = Union((A, B))
    assert len(to_dnf(Intersection((Union((A, B)), Union((C, D)))), limit=4)) == 4
    with pytest.raises(QuerySizeError, match=r"4 disjuncts; the limit is 3"):
        to_dnf(Intersection((Union((A, B)), Union((C, D)))), limit=3)
    began = time.process_time()  # of this process: a busy machine is no fault of the code
    with pytest.raises(QuerySizeError, match=r"about 10\^6021 disjuncts; the limit is 1,024"):
        to_dnf(Intersection((pair,) * 20_000))
    assert time.process_time() - began < 1
    assert disjuncts(Intersection((pair,) * 2000)) == 2**2000


def test_the_limit_holds_inside_a_negation_too():
    inside = Negation(Projection(2, Intersection((Union((A, B)),) * 11)))
    with pytest.raises(QuerySizeError, match=r"2,048 disjuncts inside a negation"):
        to_dnf(Intersection((C, inside)))


def test_nested_negations_that_multiply_are_counted_by_their_constants():
    tree = A
    for _ in range(5):
        tree = Negation(Projection(2, Intersection((*(Union((A, B)),) * 9, tree))))
    with pytest.raises(QuerySizeError, match=r"constants in all; the limit is 1,048,576"):
        to_dnf(Intersection((C, tree)))
