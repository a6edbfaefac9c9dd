"""Shapes: the fourteen and any other, tuples to trees and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from support.query_strategies import trees

from pathformer.errors import QuerySyntaxError, UnsupportedQueryError
from pathformer.query.structures import (
    EFOL_TRAINED,
    EPFO,
    NEGATION_STRUCTURES,
    STRUCTURES,
    benchmark_structure,
    instance_of_tree,
    shape_text,
    structure,
    structure_of,
    tree_of_instance,
)
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Union, canonical, depth

A, B, C = (Projection(2 * i, Anchor(i)) for i in range(3))


def test_there_are_fourteen():
    assert len(STRUCTURES) == 14
    assert set(STRUCTURES) == {*EPFO, *NEGATION_STRUCTURES}
    assert len(EFOL_TRAINED) == 10


@pytest.mark.parametrize("name", STRUCTURES)
def test_rows_instances_and_trees_agree(name):
    found = STRUCTURES[name]
    row = tuple(range(10, 10 + len(found.columns)))
    assert found.row(found.instance(row)) == row
    assert instance_of_tree(found.tree(row)) == found.instance(row)
    assert structure_of(found.tree(row)) is found
    assert structure(shape_text(found.shape)) is found
    assert benchmark_structure(found.tree(row)) is found
    assert ("n" in name, "u" in name) == (found.negated, found.united)
    assert str(found) == name


def test_the_order_of_branches_does_not_hide_a_structure():
    assert benchmark_structure(Intersection((A, Negation(Projection(4, B))))).name == "pni"
    assert structure_of(Intersection((A, Negation(Projection(4, B))))).name == "((e,(r,)),(e,(r,r,n)))"
    assert benchmark_structure(Projection(0, Intersection((Negation(A), B)))).name == "inp"
    assert benchmark_structure(Intersection((A, B, C, A))) is None


@given(trees())
def test_any_tree_is_a_tuple_and_back(tree):
    assert tree_of_instance(instance_of_tree(tree)) == tree
    assert structure(shape_text(structure_of(tree).shape)) == structure_of(tree)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (5, "a shape is a tuple, not '5'"),
        (None, "a shape is a tuple, not 'None'"),
        ((), "a shape is a tuple, not '()'"),
        (["e", ["r"]], "a shape is a tuple, not '(e,(r,))'"),
        (("e", ("r", 3)), "in (e,(r,3)), the operators after a start are r or n, at least one"),
        (("e", None), "in (e,None), 'e' stands where a branch was expected"),
        ((("e", ("r",)), 7), "in ((e,(r,)),7), 7 stands where a branch was expected"),
    ],
)
def test_what_is_no_nested_tuple_of_letters_is_told(shape, message):
    with pytest.raises(UnsupportedQueryError) as caught:
        structure(shape)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("4i", QuerySyntaxError, "no structure '4i': expected one of 1p, 2p"),
        ("1p\0", QuerySyntaxError, "no structure '1p\\x00': expected one of 1p, 2p"),
        ("\ud800", QuerySyntaxError, "no structure '\\ud800': expected one of 1p, 2p"),
        ("2inn", QuerySyntaxError, "no structure '2inn': expected one of 1p, 2p"),
        ("i4", QuerySyntaxError, "a shape is made of tuples and the letters e, r, n, u; found 'i4'"),
        ("(e,(x,))", QuerySyntaxError, "found 'x'"),
        ("(e,(u,r))", UnsupportedQueryError, "the operators after a start are r or n"),
        ("(r,(r,))", UnsupportedQueryError, "a chain starts with e or with a fork"),
        ("((e,(r,)),(u,))", UnsupportedQueryError, "is a fork with fewer than two branches"),
        ("((e,(r,)),e)", UnsupportedQueryError, "stands where a branch was expected"),
    ],
)
def test_what_is_not_a_shape_is_refused(text, error, message):
    with pytest.raises(error) as caught:
        structure(text)
    assert message in str(caught.value)


@given(trees())
def test_canonical_is_one_of_its_class(tree):
    once = canonical(tree)
    assert canonical(once) == once
    assert depth(once) <= depth(tree)


def test_canonical_forgets_order_repeats_and_nesting():
    assert canonical(Intersection((B, Intersection((A, B))))) == canonical(Intersection((A, B)))
    assert canonical(Union((B, B))) == B
    assert canonical(Negation(Negation(A))) == A
    assert canonical(Intersection((A, B))) != canonical(Union((A, B)))
    assert depth(A) == 2
    assert depth(Negation(Intersection((A, Projection(0, B))))) == 5
