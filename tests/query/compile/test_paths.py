"""The decomposition into path and fork queries, for the paper's example, the fourteen structures and any tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from support.query_strategies import trees

from pathformer.errors import UnsupportedQueryError
from pathformer.query.compile.paths import Fork, Path, forks, from_paths, paths, to_paths
from pathformer.query.structures import NEGATION, STRUCTURES
from pathformer.query.tree import Anchor, Intersection, Negation, Projection, Union, canonical


def test_figure_1_has_three_paths_and_a_fork():
    tree = STRUCTURES["inp"].tree((1, 10, 2, 20, 30))
    first, second = Path(1, (10,)), Path(2, (20, NEGATION))
    third = Path(Fork((first, second)), (30,))
    assert to_paths(tree) == third
    assert list(paths(third)) == [first, second, third]
    assert list(forks(third)) == [Fork((first, second))]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("1p", Path(0, (1,))),
        ("3p", Path(0, (1, 2, 3))),
        ("3i", Fork((Path(0, (1,)), Path(2, (3,)), Path(4, (5,))))),
        ("pi", Fork((Path(0, (1, 2)), Path(3, (4,))))),
        ("pni", Fork((Path(0, (1, 2, NEGATION)), Path(3, (4,))))),
    ],
)
def test_structures(name, expected):
    structure = STRUCTURES[name]
    assert to_paths(structure.tree(range(len(structure.columns)))) == expected


def test_every_union_free_structure_has_paths_that_cover_its_ids():
    for structure in STRUCTURES.values():
        if not structure.united:
            row = tuple(range(len(structure.columns)))
            found = list(paths(to_paths(structure.tree(row))))
            ids = [i for p in found for i in (p.start, *p.operators) if isinstance(i, int) and i >= 0]
            assert sorted(ids) == list(row)


def test_a_negated_fork_is_a_path_from_it():
    fork = Intersection((Projection(2, Anchor(0)), Projection(4, Anchor(1))))
    assert to_paths(Negation(fork)) == Path(Fork((Path(0, (2,)), Path(1, (4,)))), (NEGATION,))


def test_nested_intersections_are_one_fork():
    a, b, c = (Projection(2 * i, Anchor(i)) for i in range(3))
    assert to_paths(Intersection((a, Intersection((b, c))))) == to_paths(Intersection((a, b, c)))


def test_a_union_is_refused():
    a, b = (Projection(2 * i, Anchor(i)) for i in range(2))
    with pytest.raises(UnsupportedQueryError, match="to_dnf first"):
        to_paths(Projection(2, Union((a, b))))


@given(trees(unions=False))
def test_any_tree_comes_back_from_its_paths(tree):
    query = to_paths(tree)
    assert canonical(from_paths(query)) == canonical(tree)
    assert to_paths(from_paths(query)) == query
    assert all(isinstance(branch, Path) for fork in forks(query) for branch in fork.branches)
    assert all(len(fork.branches) >= 2 for fork in forks(query))
