"""Structures as programs."""

from __future__ import annotations

import pytest

from pathformer.query.structures import STRUCTURES, structure
from pathformer.symbolic.kernels.program import (
    ANCHOR,
    EXCLUDE,
    INTERSECT,
    NARROW,
    NEGATE,
    PROJECT,
    UNITE,
    compile_structure,
)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("1p", 1),
        ("3p", 3),
        ("ip", 3),
        ("up", 5),
        ("pin", 2),
        ("2in", 1),
        ("pni", 5),
        ("2i", -1),
        ("3in", -1),
        ("2u", -1),
    ],
)
def test_where_counting_may_stop(name: str, step: int) -> None:
    """Only the last projection, and only if what follows takes away no more than known complements."""
    assert compile_structure(STRUCTURES[name]).capped == step


def test_the_room_a_program_needs() -> None:
    assert compile_structure(STRUCTURES["3p"]).depth == 1
    assert compile_structure(STRUCTURES["3i"]).depth == 1  # links narrow the set that is there
    assert compile_structure(STRUCTURES["2u"]).depth == 2
    nested = structure("((e,(r,)),((e,(r,)),((e,(r,)),(e,(r,n)),(u,))))")
    assert compile_structure(nested).depth == 2


def test_only_chains_can_be_walked_forwards() -> None:
    assert [name for name in STRUCTURES if compile_structure(STRUCTURES[name]).chain] == ["1p", "2p", "3p"]


def test_twins_are_siblings_of_one_shape() -> None:
    assert compile_structure(STRUCTURES["3i"]).twins.tolist() == [[0, 2, 2], [0, 4, 2], [2, 4, 2]]
    assert compile_structure(STRUCTURES["pi"]).twins.tolist() == []
    assert compile_structure(STRUCTURES["ip"]).twins.tolist() == [[0, 2, 2]]


def test_a_link_narrows_what_is_there_unless_that_is_a_complement() -> None:
    def codes(name: str) -> list[int]:
        return compile_structure(structure(name)).answer[:, 0].tolist()

    assert codes("3i") == [ANCHOR, PROJECT, NARROW, NARROW]
    assert codes("3in") == [ANCHOR, PROJECT, NARROW, EXCLUDE]
    assert codes("pni") == [ANCHOR, PROJECT, PROJECT, NEGATE, ANCHOR, PROJECT, INTERSECT]
    assert codes("2u") == [ANCHOR, PROJECT, ANCHOR, PROJECT, UNITE]
    united = "(((e,(r,)),(e,(r,n)),(u,)),(e,(r,)))"  # a union with a complement is one
    assert codes(united)[-3:] == [ANCHOR, PROJECT, INTERSECT]
